import { scripts, spaced } from '../../text/words.ts'
import type { WordedPassage } from './passage-words.ts'
import type { Term } from './query.ts'
import { type Mentions, matchedTermsMax, TermMatcher } from './term-matcher.ts'
import type { WordForms } from './word-forms.ts'

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
/** Exponent of a term's rarity: rare words tell more than BM25 assumes. */
const rarityEmphasis = 1.5
/** Terms below this rarity, which more than a third of the chunks have, are not looked for in other forms. */
const commonRarity = 1
const windowWords = 12
/** A small project does not show which words are common. So this many chunks are assumed besides its own. */
const assumedChunks = 100
/** Shares of the assumed chunks that have a word of 1, 2, … letters, roughly as in English and Spanish. */
const sharesByLength = [0, 0.9, 0.6, 0.3, 0.1, 0.04]
const shareOfLongWords = 0.01
const nearWordsMax = 8

/** How many chunks the project has, and how many of them have a term. */
export interface TermCounts {
  chunks: number
  chunksWith: (term: Term) => number
}

/**
 * Orders passages by all that their words say: BM25 over all terms of the query, the same form and capitals, similar
 * words where a term is missing, terms near each other, the heading, and the other passages of the item. Passages with
 * equal scores keep their order. Returns their labels.
 */
export function rankPassages(
  queryTerms: readonly Term[],
  passages: readonly WordedPassage[],
  forms: WordForms,
  counts: TermCounts,
): number[] {
  const rarest = queryTerms
    .map((term) => ({ term, weight: rarityOf(term, counts) ** rarityEmphasis }))
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, matchedTermsMax)
  const terms = rarest.map(({ term }) => term)
  const rarities = rarest.map(({ weight }) => weight)
  const matcher = new TermMatcher(terms, (index) => (rarities[index] ?? 0) < commonRarity, forms)
  const readings = passages.map(({ label, itemSeq, words, title }) => ({
    ...{ label, itemSeq, mentions: matcher.read(words), heading: matcher.read(title) },
  }))
  const items = gatherItems(readings)
  const wordsMean = meanWords(readings.map(({ mentions }) => mentions))
  const itemWordsMean = meanWords([...items.values()])
  const neighbours = neighboursIn(terms)

  return readings
    .map(({ label, itemSeq, mentions, heading }) => {
      const item = items.get(itemSeq) ?? mentions
      let score = bm25(mentions, wordsMean, rarities)
      score += weights.proximity * proximityOf(mentions, neighbours, rarities)
      score += weights.window * densestWindow(mentions, rarities)
      score += weights.item * bm25(item, itemWordsMean, rarities)
      const addForm = (total: number, rarity: number, index: number) =>
        total + rarity * formOf(index, mentions, heading)
      return { label, score: rarities.reduce(addForm, score) }
    })
    .sort((a, b) => b.score - a.score)
    .map(({ label }) => label)
}

/** How many words a text has, and how often each term is among them. */
type WordCounts = Pick<Mentions, 'words' | 'counts'>

/** What the form of a term in the passage adds, as a share of the term's rarity. */
function formOf(index: number, mentions: Mentions, heading: WordCounts): number {
  if ((mentions.counts[index] ?? 0) > 0) return (mentions.cased & (1 << index)) !== 0 ? weights.cased : 0
  if ((heading.counts[index] ?? 0) > 0) return weights.heading
  return weights.likeness * (mentions.likeness[index] ?? 0)
}

/** BM25's inverse document frequency, in the variant that is never negative, with the assumed chunks. */
function rarityOf(term: Term, { chunks, chunksWith }: TermCounts): number {
  const holders = chunksWith(term) + assumedChunks * assumedShare(term.folded)
  const others = Math.max(0, chunks + assumedChunks - holders)
  return Math.log(1 + (others + 0.5) / (holders + 0.5))
}

/** Zipf's law of abbreviation: in any language, the shorter a word, the more frequent it is. */
function assumedShare(word: string): number {
  const isWord = scripts[word.charCodeAt(0)] === spaced && !/\p{N}/u.test(word)
  return (isWord ? sharesByLength[word.length] : undefined) ?? shareOfLongWords
}

function bm25({ words, counts }: WordCounts, wordsMean: number, rarities: readonly number[]): number {
  const relativeLength = words / Math.max(1, wordsMean)
  const norm = saturation * (1 - lengthNormalisation + lengthNormalisation * relativeLength)
  const weightOf = (count: number) => (count * (saturation + 1)) / (count + norm)
  return counts.reduce((score, count, index) => score + (rarities[index] ?? 0) * weightOf(count), 0)
}

/** The counts of all given passages of each item, by the item's seq. */
function gatherItems(readings: readonly { itemSeq: number; mentions: Mentions }[]): Map<number, WordCounts> {
  const items = new Map<number, WordCounts>()
  for (const { itemSeq, mentions } of readings) {
    const { words, counts } = items.get(itemSeq) ?? { words: 0, counts: [] }
    items.set(itemSeq, {
      words: words + mentions.words,
      counts: mentions.counts.map((count, index) => count + (counts[index] ?? 0)),
    })
  }
  return items
}

function meanWords(texts: readonly WordCounts[]): number {
  return texts.reduce((total, { words }) => total + words, 0) / Math.max(1, texts.length)
}

/** Two terms that follow each other in the query, directly (`distance` 1) or with one word between them (2). */
interface Neighbours {
  first: number
  second: number
  distance: number
}

function neighboursIn(terms: readonly Term[]): Neighbours[] {
  const sequence: number[] = []
  for (const [index, { positions }] of terms.entries()) {
    for (const position of positions) sequence[position] = index
  }
  return [1, 2].flatMap((distance) =>
    sequence.flatMap((first, position) => {
      const second = sequence[position + distance]
      return second === undefined || second === first ? [] : { first, second, distance }
    }),
  )
}

/** Higher the nearer the query's neighbours are to each other, and in the same order. */
function proximityOf(
  mentions: Mentions,
  neighbours: readonly Neighbours[],
  rarities: readonly number[],
): number {
  if (neighbours.length === 0) return 0
  const gaps = gapsIn(mentions, rarities.length)
  let score = 0
  for (const { first, second, distance } of neighbours) {
    const gap = gaps[first * rarities.length + second] ?? 0
    if (gap === 0) continue
    const weight = Math.min(rarities[first] ?? 0, rarities[second] ?? 0)
    score += weight / (Math.max(0, gap - distance) + 1) / distance
  }
  return score
}

/**
 * The smallest distance in words from each term to each other one, at `first * termsCount + second`. It counts one more
 * when the second term comes first, and is 0 when the terms are nowhere within `nearWordsMax` words.
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

/** The sum of the rarities of the terms within `windowWords` words, where it is highest. */
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
