import { scripts, spaced } from '../../text/words.ts'
import { withoutLinks } from '../chunking/links.ts'
import type { Passage } from './passages.ts'
import type { Term } from './query.ts'
import { type Mentions, matchedTermsMax, TermMatcher } from './term-matcher.ts'

// BM25's own constants (Robertson and Zaragoza, 2009).
const saturation = 1.5
const lengthNormalisation = 0.75

// How much each kind of evidence counts beside BM25. Tuned by `bun run bench:retrieval`.
const weights = {
  cased: 0.5,
  likeness: 1.5,
  proximity: 1.5,
  window: 1.5,
  heading: 0.7,
  item: 0.35,
}
/** Rare words tell still more than BM25 says. */
const rarityEmphasis = 1.5
const likenessMin = 0.45
/** Terms of less rarity, which more than a third of the chunks have, are not looked for in other forms. */
const commonRarity = 1
const windowWords = 12
/** A small project tells little of which words are common, so as many chunks are made up by the words' lengths. */
const assumedChunks = 100
/** Zipf's law of abbreviation, roughly as it is in English and Spanish. */
const sharesByLength = [0, 0.9, 0.6, 0.3, 0.1, 0.04]
const shareOfLongWords = 0.01
const nearWordsMax = 8

/** How many of the project's chunks there are, and how many have a term. */
export interface TermCounts {
  chunks: number
  chunksWith: (term: Term) => number
}

/**
 * Orders passages, which came in their order by BM25 over some of the query's terms, by all that their words say:
 * BM25 over all terms, the same form and capitals, similar words where one is missing, terms that stand near
 * each other, the heading, and the rest of the item. Of equal ones the first stays first.
 */
export function rankPassages(
  queryTerms: readonly Term[],
  passages: readonly Passage[],
  counts: TermCounts,
): Passage[] {
  const rarest = queryTerms
    .map((term) => ({ term, weight: rarityOf(term, counts) ** rarityEmphasis }))
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, matchedTermsMax)
  const terms = rarest.map(({ term }) => term)
  const rarities = rarest.map(({ weight }) => weight)
  const matcher = new TermMatcher(terms, (index) => (rarities[index] ?? 0) < commonRarity)
  const readHeading = memoised((heading) => matcher.read(heading).counts)
  const readings = passages.map((passage): Reading => {
    return { passage, mentions: matcher.read(withoutLinks(passage.text)) }
  })
  const wordsMean = sum(readings.map(({ mentions }) => mentions.words)) / Math.max(1, readings.length)
  const items = gatherItems(readings, terms.length)
  const itemWordsMean = sum(Array.from(items.values(), ({ words }) => words)) / Math.max(1, items.size)
  const neighbours = neighboursIn(terms)

  return readings
    .map(({ passage, mentions }) => {
      const item = items.get(passage.itemSeq)
      const heading = readHeading(`${passage.name} ${passage.heading ?? ''}`)
      let score = bm25(mentions.counts, rarities, mentions.words / Math.max(1, wordsMean))
      score += weights.proximity * proximityOf(mentions, neighbours, rarities)
      score += weights.window * densestWindow(mentions, rarities)
      if (item) score += weights.item * bm25(item.counts, rarities, item.words / Math.max(1, itemWordsMean))
      for (let index = 0; index < rarities.length; index++) {
        score += (rarities[index] ?? 0) * formOf(index, mentions, heading)
      }
      return { passage, score }
    })
    .sort((a, b) => b.score - a.score)
    .map(({ passage }) => passage)
}

interface Reading {
  passage: Passage
  mentions: Mentions
}

/** What a term adds by the way it is there, as a share of its rarity. */
function formOf(index: number, mentions: Mentions, headingCounts: readonly number[]): number {
  if ((mentions.counts[index] ?? 0) > 0) return (mentions.cased & (1 << index)) !== 0 ? weights.cased : 0
  if ((headingCounts[index] ?? 0) > 0) return weights.heading
  const likeness = mentions.likeness[index] ?? 0
  return likeness >= likenessMin ? weights.likeness * likeness : 0
}

/** BM25's inverse document frequency, which is never negative, as if a few chunks more had been looked at. */
function rarityOf(term: Term, { chunks, chunksWith }: TermCounts): number {
  const holders = chunksWith(term) + assumedChunks * assumedShare(term.folded)
  const others = Math.max(0, chunks + assumedChunks - holders)
  return Math.log(1 + (others + 0.5) / (holders + 0.5))
}

/** How many chunks have a word of this length: the shorter, the more frequent, in any language. */
function assumedShare(word: string): number {
  const isWord = scripts[word.charCodeAt(0)] === spaced && !/\p{N}/u.test(word)
  return (isWord ? sharesByLength[word.length] : undefined) ?? shareOfLongWords
}

/** @param relativeLength the text's length as a multiple of the mean */
function bm25(counts: readonly number[], rarities: readonly number[], relativeLength: number): number {
  const norm = saturation * (1 - lengthNormalisation + lengthNormalisation * relativeLength)
  let score = 0
  for (let index = 0; index < counts.length; index++) {
    const count = counts[index] ?? 0
    if (count > 0) score += ((rarities[index] ?? 0) * count * (saturation + 1)) / (count + norm)
  }
  return score
}

/** What the passages at hand of each item mention together. */
function gatherItems(readings: readonly Reading[], termsCount: number) {
  const items = new Map<number, { words: number; counts: number[] }>()
  for (const { passage, mentions } of readings) {
    let item = items.get(passage.itemSeq)
    if (!item) {
      item = { words: 0, counts: new Array<number>(termsCount).fill(0) }
      items.set(passage.itemSeq, item)
    }
    item.words += mentions.words
    for (let index = 0; index < termsCount; index++) {
      item.counts[index] = (item.counts[index] ?? 0) + (mentions.counts[index] ?? 0)
    }
  }
  return items
}

/** Two terms that follow each other in the query, at most with one between them. */
interface Neighbours {
  first: number
  second: number
  distance: number
  /** How often they do. */
  times: number
}

function neighboursIn(terms: readonly Term[]): Neighbours[] {
  const sequence: number[] = []
  for (const [index, { positions }] of terms.entries()) {
    for (const position of positions) sequence[position] = index
  }
  const pairs = new Map<string, Neighbours>()
  for (let position = 0; position < sequence.length; position++) {
    const first = sequence[position]
    for (const distance of [1, 2]) {
      const second = sequence[position + distance]
      if (first === undefined || second === undefined || first === second) continue
      const key = `${first} ${second} ${distance}`
      const known = pairs.get(key)
      if (known) known.times++
      else pairs.set(key, { first, second, distance, times: 1 })
    }
  }
  return [...pairs.values()]
}

/** More the nearer neighbours of the query stand to each other, and in the same order. */
function proximityOf(
  mentions: Mentions,
  neighbours: readonly Neighbours[],
  rarities: readonly number[],
): number {
  if (neighbours.length === 0) return 0
  const gaps = gapsIn(mentions, rarities.length)
  let score = 0
  for (const { first, second, distance, times } of neighbours) {
    const gap = gaps[first * rarities.length + second] ?? 0
    if (gap === 0) continue
    const weight = Math.min(rarities[first] ?? 0, rarities[second] ?? 0)
    score += (times * weight) / (Math.max(0, gap - distance) + 1) / distance
  }
  return score
}

/**
 * The fewest words from each term to each other one, by `first * termsCount + second`; one more when they stand the
 * other way round, and 0 when there is no such place. Only words that are near are looked at, whatever the text.
 */
function gapsIn({ places, terms }: Mentions, termsCount: number): Uint8Array {
  const gaps = new Uint8Array(termsCount * termsCount)
  const note = (cell: number, gap: number) => {
    const known = gaps[cell] ?? 0
    if (gap <= nearWordsMax && (known === 0 || gap < known)) gaps[cell] = gap
  }
  for (let at = 1; at < places.length; at++) {
    const place = places[at] ?? 0
    const term = terms[at] ?? 0
    for (let before = at - 1; before >= 0; before--) {
      const words = place - (places[before] ?? 0)
      if (words > nearWordsMax) break
      const other = terms[before] ?? 0
      note(other * termsCount + term, words)
      note(term * termsCount + other, words + 1)
    }
  }
  return gaps
}

/** The most that a few words in a row mention: the sum of their terms' rarities. */
function densestWindow({ places, terms }: Mentions, rarities: readonly number[]): number {
  const held = new Array<number>(rarities.length).fill(0)
  let from = 0
  let score = 0
  let best = 0
  for (let at = 0; at < places.length; at++) {
    const place = places[at] ?? 0
    const index = terms[at] ?? 0
    if (held[index] === 0) score += rarities[index] ?? 0
    held[index] = (held[index] ?? 0) + 1
    while ((places[from] ?? place) < place - windowWords) {
      const left = terms[from++] ?? 0
      held[left] = (held[left] ?? 1) - 1
      if (held[left] === 0) score -= rarities[left] ?? 0
    }
    best = Math.max(best, score)
  }
  return best
}

function memoised<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>()
  return (text) => {
    const value = known.get(text) ?? read(text)
    known.set(text, value)
    return value
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
