import { scripts, spaced } from '../../text/words.ts'
import type { WordedPassage } from './passage-words.ts'
import type { Term } from './query.ts'
import { type Mentions, matchedTermsMax, TermMatcher } from './term-matcher.ts'
import type { WordForms } from './word-forms.ts'

/**
 * How much each kind of evidence counts beside BM25 over the text. `bun run bench:ranking` tries other values on all
 * question sets: near these, none changes much.
 */
export const rankWeights = {
  /** BM25's k1: how much further occurrences of a term add. */
  saturation: 2,
  /** BM25's b: how far a long text counts for less. */
  length: 0.75,
  /** A term in the title: added to those of the text, and once more on its own. */
  title: 1,
  /** A term in the text with the query's capitals. */
  cased: 0.3,
  /** The most similar word, where a term is missing. */
  likeness: 1.5,
  /** Terms as near to each other as in the query. */
  proximity: 1.5,
  /** The stretch of text with the most terms. */
  window: 1.5,
  /** The item's other passages. */
  item: 0.35,
  /** Exponent of a term's rarity: rare words tell more than BM25 assumes. */
  emphasis: 1.5,
  /** How much of the rarity of a title's term is that in titles; the rest is that in chunks. */
  headings: 0.5,
  /** The share of its weight that a function word has. */
  functionWords: 0.1,
}
export type RankWeights = typeof rankWeights
/** How a question is put tells whether an answer is stored, but not which one it is: `bun run bench:retrieval`. */
const coverageWeights: RankWeights = { ...rankWeights, headings: 0, functionWords: 0.75, proximity: 2 }
/** Terms below this rarity, which more than a third of the chunks have, are not looked for in other forms. */
const commonRarity = 1
const windowWords = 12
/** A small project does not show which words are common. So this many chunks are assumed besides its own. */
const assumedChunks = 100
/** Shares of the assumed chunks that have a word of 1, 2, … letters, roughly as in English and Spanish. */
const sharesByLength = [0, 0.9, 0.6, 0.3, 0.1, 0.04]
const shareOfLongWords = 0.01
const nearWordsMax = 8
/** A score of so many times the query's weight counts as the strongest evidence. One answer in twenty has more. */
const strongScore = 5
/** In a passage's coverage, how much the share of the query's weight that it has counts; the rest is its evidence. */
const heldShare = 0.3

/** How many chunks the project has, and how many of them have a term. */
export interface TermCounts {
  chunks: number
  chunksWith: (term: Term) => number
  /** How many of them have it among so many first words; undefined if that is not known. */
  chunksBeginningWith?: (term: Term, words: number) => number | undefined
}

/** Where a passage mentions the query's terms: in its text, and in its item's name and heading. */
interface Reading {
  label: number
  itemSeq: number
  text: Mentions
  title: Mentions
}

/** What decides the order of passages, before it is weighed. */
export interface Evidence {
  /** The rarity of each term: BM25's inverse document frequency. */
  rarities: number[]
  /** The same in titles. */
  titleRarities: number[]
  isFunctionWord: boolean[]
  neighbours: Neighbours[]
  readings: Reading[]
}

/** Passages in the order of their words. */
export interface RankedPassages {
  /** Labels, the best first. */
  labels: number[]
  /** How much of the query each covers: 0 to 1. */
  coverages: number[]
  /** The same of the best one, whatever the others are. */
  coverage: number
}

/**
 * Orders passages by all that their words say: BM25 over all terms of the query, in the text and in the title, the same
 * form and capitals, similar words where a term is missing, terms near each other, and the other passages of the item.
 * Passages with equal scores keep their order.
 * @param coveredMax how many of the first passages the coverage is taken from
 */
export function rankPassages(
  terms: readonly Term[],
  passages: readonly WordedPassage[],
  forms: WordForms,
  counts: TermCounts,
  coveredMax = passages.length,
): RankedPassages {
  const evidence = gatherEvidence(terms, passages, forms, counts)
  const ranked = rank(evidence)
  // Scores depend on the other passages, so that more of them would change the coverage.
  const first = { ...evidence, readings: evidence.readings.slice(0, coveredMax) }
  const { coverages } = passages.length > coveredMax ? rank(first) : ranked
  return { ...ranked, coverage: coverages[0] ?? 0 }
}

function rank(evidence: Evidence): Omit<RankedPassages, 'coverage'> {
  const labels = weighEvidence(evidence, rankWeights).map(({ label }) => label)
  const covering = new Map(
    weighEvidence(evidence, coverageWeights).map((passage) => [passage.label, passage]),
  )
  const weight = worthsOf(evidence.rarities, evidence, coverageWeights).reduce((sum, worth) => sum + worth, 0)
  return { labels, coverages: labels.map((label) => coverageOf(weight, covering.get(label))) }
}

/**
 * How much of the query a passage covers: the share of the terms' weight that it has, and how strong the evidence is for
 * that weight, which makes up for no term that is missing. Of what was tried, these two tell best whether the answer is
 * stored: `bun run bench:retrieval`.
 */
function coverageOf(weight: number, passage: WeighedPassage | undefined): number {
  if (!passage) return 0
  const held = passage.weight / weight
  const strength = Math.min(held, passage.score / (strongScore * weight))
  return heldShare * held + (1 - heldShare) * strength
}

export function gatherEvidence(
  queryTerms: readonly Term[],
  passages: readonly WordedPassage[],
  forms: WordForms,
  counts: TermCounts,
): Evidence {
  const rarest = queryTerms
    .map((term) => ({ term, rarity: rarityOf(term, counts, counts.chunksWith(term)) }))
    .toSorted((a, b) => b.rarity - a.rarity)
    .slice(0, matchedTermsMax)
  const terms = rarest.map(({ term }) => term)
  const rarities = rarest.map(({ rarity }) => rarity)
  const matcher = new TermMatcher(terms, (index) => (rarities[index] ?? 0) < commonRarity, forms)
  const readings = passages.map(({ label, itemSeq, words, title }): Reading => {
    return { label, itemSeq, text: matcher.read(words), title: matcher.read(title) }
  })
  const titleWords = meanWords(readings.map(({ title }) => title))
  const titleRarities = terms.map((term, at) => {
    const titles = counts.chunksBeginningWith?.(term, titleWords)
    return titles === undefined ? (rarities[at] ?? 0) : rarityOf(term, counts, titles)
  })
  const isFunctionWord = terms.map((term) => term.isFunctionWord)
  return { rarities, titleRarities, isFunctionWord, neighbours: neighboursIn(terms), readings }
}

/** How much each term counts. */
function worthsOf(
  rarities: readonly number[],
  { isFunctionWord }: Evidence,
  { emphasis, functionWords }: RankWeights,
): number[] {
  return rarities.map((rarity, at) => rarity ** emphasis * (isFunctionWord[at] ? functionWords : 1))
}

export interface WeighedPassage {
  label: number
  score: number
  /** The weight of the terms that it has. */
  weight: number
}

/** Returns the passages, the best first. */
export function weighEvidence(evidence: Evidence, weights: RankWeights): WeighedPassage[] {
  const { rarities, titleRarities, neighbours, readings } = evidence
  const worths = worthsOf(rarities, evidence, weights)
  const titleWorths = worthsOf(
    rarities.map((rarity, at) => rarity * ((titleRarities[at] ?? 0) / rarity) ** weights.headings),
    evidence,
    weights,
  )
  const items = gatherItems(readings)
  const texts = meanWords(readings.map(({ text }) => text))
  const titles = meanWords(readings.map(({ title }) => title))
  const wholes = meanWords([...items.values()])
  const { saturation, length } = weights
  const saturated = (frequency: number) => (frequency * (saturation + 1)) / (frequency + saturation)
  // Plain loops: this runs for every passage of every search.
  const weigh = ({ label, itemSeq, text, title }: Reading): WeighedPassage => {
    const item = items.get(itemSeq) ?? text
    const textNorm = lengthNorm(text, texts, length)
    const titleNorm = lengthNorm(title, titles, length)
    const itemNorm = lengthNorm(item, wholes, length)
    let score = weights.proximity * proximityOf(text, neighbours, worths)
    score += weights.window * densestWindow(text, title, worths)
    let weight = 0
    for (let index = 0; index < worths.length; index++) {
      const worth = worths[index] ?? 0
      const inText = (text.counts[index] ?? 0) / textNorm
      const inTitle = (title.counts[index] ?? 0) / titleNorm
      const inItem = (item.counts[index] ?? 0) / itemNorm
      // The sum saturates, so in it a name shared by many passages would hide what their texts say.
      score += worth * saturated(inText + weights.title * inTitle)
      score += (titleWorths[index] ?? 0) * weights.title * saturated(inTitle)
      score += worth * weights.item * saturated(inItem)
      if (inText === 0 && inTitle === 0) score += worth * weights.likeness * (text.likeness[index] ?? 0)
      else {
        weight += worth
        if ((text.cased & (1 << index)) !== 0) score += worth * weights.cased
      }
    }
    return { label, score, weight }
  }
  return readings.map(weigh).sort((a, b) => b.score - a.score)
}

/** How many words a text has, and how often each term is among them. */
type WordCounts = Pick<Mentions, 'words' | 'counts'>

/**
 * What counts are divided by, so that they are those of a text of the mean length: the part of BM25F (Robertson and
 * Zaragoza, 2009) that puts fields of different lengths together.
 */
function lengthNorm({ words }: WordCounts, wordsMean: number, length: number): number {
  return 1 - length + (length * words) / Math.max(1, wordsMean)
}

/** BM25's inverse document frequency, in the variant that is never negative, with the assumed chunks. */
function rarityOf(term: Term, { chunks }: TermCounts, chunksWith: number): number {
  const holders = chunksWith + assumedChunks * assumedShare(term.folded)
  const others = Math.max(0, chunks + assumedChunks - holders)
  return Math.log(1 + (others + 0.5) / (holders + 0.5))
}

/** Zipf's law of abbreviation: in any language, the shorter a word, the more frequent it is. */
function assumedShare(word: string): number {
  const isWord = scripts[word.charCodeAt(0)] === spaced && !/\p{N}/u.test(word)
  return (isWord ? sharesByLength[word.length] : undefined) ?? shareOfLongWords
}

/** The counts of all given passages of each item, by the item's seq. */
function gatherItems(readings: readonly Reading[]): Map<number, WordCounts> {
  const items = new Map<number, WordCounts>()
  for (const { itemSeq, text } of readings) {
    const { words, counts } = items.get(itemSeq) ?? { words: 0, counts: [] }
    items.set(itemSeq, {
      words: words + text.words,
      counts: text.counts.map((count, index) => count + (counts[index] ?? 0)),
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
    const nearest = gaps[cell] ?? 0
    if (gap <= nearWordsMax && (nearest === 0 || gap < nearest)) gaps[cell] = gap
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

/**
 * The sum of the rarities of the terms within `windowWords` words, where it is highest. Those of the title belong to
 * every part of the text.
 */
function densestWindow(
  { places, terms }: Mentions,
  { counts }: WordCounts,
  rarities: readonly number[],
): number {
  const times = counts.map((count): number => (count > 0 ? 1 : 0))
  let from = 0
  let score = rarities.reduce((sum, rarity, index) => ((times[index] ?? 0) > 0 ? sum + rarity : sum), 0)
  let best = score
  for (let at = 0; at < places.length; at++) {
    const place = places[at] ?? 0
    const index = terms[at] ?? 0
    if (times[index] === 0) score += rarities[index] ?? 0
    times[index] = (times[index] ?? 0) + 1
    while ((places[from] ?? place) < place - windowWords) {
      const departed = terms[from++] ?? 0
      times[departed] = (times[departed] ?? 1) - 1
      if (times[departed] === 0) score -= rarities[departed] ?? 0
    }
    best = Math.max(best, score)
  }
  return best
}
