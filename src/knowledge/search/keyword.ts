import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../../db/reader.ts'
import type { StoreOf } from '../../db/store.ts'
import { ownWord } from '../../db/word-segments.ts'
import { KeptPassageWords, type WordedPassage } from './passage-words.ts'
import { readTerms, type Term } from './query.ts'
import { rankPassages, type TermCounts } from './rank-passages.ts'
import { bestOf, RankedTerms, type TermStrengths } from './ranked-terms.ts'
import type { WordForms } from './word-forms.ts'
import {
  type ChunkSegments,
  countedRowsMax,
  countMatching,
  readChunkSegments,
  readMatching,
  type SoughtTerm,
} from './word-queries.ts'

/** Limits of one search. */
const wholeEffort = {
  /** Terms of a ranked query. Each is looked up in every segment of the keyword index, which takes 50 us. */
  rankedTermsMax: 64,
  /** Rows that the terms of a ranked query have together. FTS5 takes 1.2 us for each. */
  rankedRowsMax: 1_000,
  /** The same for a ranked query of a single term. */
  rankedAloneRowsMax: 4_000,
  /** Passages found by rare terms. All terms of the query then decide their order. */
  passagesMax: 40,
  /** Passages found by common terms. They come unordered, so more are read to include the best ones. */
  filledPassagesMax: 60,
  /** Whether to look up common terms even if rare ones have found something. */
  supplements: true,
}
type Effort = typeof wholeEffort
/** Within a filter, terms may have more rows, as only its share of them counts; at most so many times as many. */
const wideningMax = 20
/** Takes a quarter of the time. */
const hurriedEffort: Effort = {
  rankedTermsMax: 4,
  rankedRowsMax: 200,
  rankedAloneRowsMax: 500,
  passagesMax: 9,
  filledPassagesMax: 9,
  supplements: false,
}
/** A word is rare if fewer than one in so many passages have it. */
const rareShare = 100
const cachedCountsMax = 20_000
const cachedForMs = 300_000
/** Sorts after every text with the same beginning. */
const lastCharacter = '\u{10ffff}'

interface Limits {
  /** The only labels to search; undefined for all. */
  labels: readonly number[] | undefined
  /** Looks at fewer passages. */
  inHurry: boolean
  /** Looks at this many passages even in a hurry. */
  atLeast?: number
  /** Names and headings cover nothing of the query, and terms weigh as much as in a search of the whole project. */
  byTextAlone?: boolean
}

interface Candidates {
  terms: Term[]
  counts: TermCounts
  passages: WordedPassage[]
  forms: WordForms
}

/**
 * Finds passages by their words. A query's rarest terms choose the passages, as many terms as can be looked up in a
 * bounded time; then all its terms order them, but for function words. So neither common words nor a large project make a search slow. Which
 * words are common is counted in the chunks that are searched, so it works in any language, and within a filter as in a
 * project of its own.
 */
export class KeywordSearch {
  readonly #store: StoreOf
  readonly #counts: LRUCache<string, number>
  readonly #ranked = new RankedTerms()
  readonly #words = new KeptPassageWords()

  /** @param options.now milliseconds of a monotonic clock */
  constructor({ store, now }: { store: StoreOf; now: () => number }) {
    this.#store = store
    this.#counts = new LRUCache({ max: cachedCountsMax, ttl: cachedForMs, perf: { now } })
  }

  /** Labels of chunks, how much of the query each covers, and the best of them, whatever `atLeast` is; null without a word. */
  async search(
    projectId: number,
    query: string,
    limits: Limits,
  ): Promise<{ labels: number[]; coverages: Map<number, number>; coverage: number | null }> {
    const { terms, counts, passages, forms } = await this.candidates(projectId, query, limits)
    const { passagesMax } = limits.inHurry ? hurriedEffort : wholeEffort
    const read = limits.byTextAlone ? passages.map(withoutTitle) : passages
    const { labels, coverages, coverage } = rankPassages(terms, read, forms, counts, passagesMax)
    return {
      labels,
      coverages: new Map(labels.map((label, at) => [label, coverages[at] ?? 0])),
      coverage: terms.length === 0 ? null : coverage,
    }
  }

  /** The stems of a query's words that fewer than one in a hundred of the project's passages have. */
  async rareStems(projectId: number, query: string): Promise<string[]> {
    const { readForSearch: read } = this.#store(projectId)
    const terms = readTerms(query)
    const segments = await readChunkSegments(read, projectId)
    const { chunks, chunksWith } = await this.#count(read, projectId, terms, segments)
    return terms.filter((term) => chunksWith(term) * rareShare < chunks).map(({ stem }) => stem)
  }

  /** The passages that a query's rarest terms choose, and what is needed to order them. */
  async candidates(
    projectId: number,
    query: string,
    { labels, inHurry, atLeast = 0, byTextAlone = false }: Limits,
  ): Promise<Candidates> {
    const { readForSearch: read } = this.#store(projectId)
    const terms = readTerms(query)
    const segments = await readChunkSegments(read, projectId)
    const all = await this.#count(read, projectId, terms, segments)
    const effort = inHurry ? hurriedEffort : wholeEffort
    const choice = { counts: all, labels, effort, atLeast }
    const { matches, counts } =
      labels?.length === 0
        ? { matches: [], counts: all }
        : await this.#find(projectId, terms, segments, choice)
    const words = await this.#words.with(read, projectId, matches)
    return { terms, counts: byTextAlone ? all : counts, passages: words.of(matches), forms: words.forms }
  }

  /** Labels of the passages to read, those of rare terms first, and the counts within the labels to search. */
  async #find(
    projectId: number,
    terms: readonly Term[],
    segments: ChunkSegments,
    { counts: all, labels, effort, atLeast }: Choice,
  ): Promise<{ matches: number[]; counts: TermCounts }> {
    const { readForSearch: read } = this.#store(projectId)
    const limit = Math.max(effort.passagesMax, atLeast)
    const share = labels ? labels.length / Math.max(1, all.chunks) : 1
    const content = terms.filter((term) => !term.isFunctionWord && all.chunksWith(term) > 0)
    const choosing = content.length > 0 ? content : terms
    // Within a filter, how common the others are there is not known either: they are read as far as the limits allow.
    const others = labels ? terms.filter((term) => !choosing.includes(term)) : []
    const byNeed = [...byRarity(choosing, all), ...byRarity(others, all)]
    const sought = rarestOf(byNeed, all, widened(effort, share))
    const ranges = sought.map((term) => rangeOf(projectId, term))
    const found = await this.#ranked.read(read, projectId, ranges, segments, labels)
    const strengths = new Map(sought.map((term, at) => [term, found[at]]))
    const counts = {
      ...(labels ? countsAmong(labels, share, all, strengths) : all),
      chunksBeginningWith: (term: Term, words: number) =>
        strengths.get(term)?.firsts.filter((first) => first < words).length,
    }
    // Whether the others choose is decided by what the filter has, not by what is beyond it.
    const chosen = choosing.some((term) => counts.chunksWith(term) > 0) ? choosing : terms
    const lookedUp = chosen.filter((term) => strengths.has(term))
    const rare = rarestOf(byRarity(lookedUp, counts), counts, effort)
    const matches = new Set(
      bestOf(
        rare.flatMap((term) => strengths.get(term) ?? []),
        limit,
      ),
    )
    if (matches.size > 0 && !effort.supplements) return { matches: [...matches], counts }
    const filledMax = Math.max(effort.filledPassagesMax, atLeast)
    const common = byRarity(chosen, counts).filter((term) => !rare.includes(term))
    const commonMatches = common.map((term) => matchOf(projectId, term))
    for (const match of fillingMatches(commonMatches, matches.size > 0 && !labels)) {
      if (matches.size >= limit) break
      const matching = { match, within: labels, limit: filledMax }
      for (const label of await readMatching(read, projectId, segments, matching)) matches.add(label)
    }
    return { matches: [...matches], counts }
  }

  /** Counts may be old. That changes only what a query costs and how much each term weighs. */
  async #count(
    db: ReadDatabase,
    projectId: number,
    terms: readonly Term[],
    segments: ChunkSegments,
  ): Promise<TermCounts> {
    const counts = new Map(
      terms.map((term) => {
        const match = matchOf(projectId, term)
        return [match, this.#counts.get(match)]
      }),
    )
    const uncounted = [...counts.keys()].filter((match) => counts.get(match) === undefined)
    for (const [at, tally] of (await countMatching(db, segments, uncounted)).entries()) {
      const match = uncounted[at] ?? ''
      const count = estimate(tally, segments)
      counts.set(match, count)
      // A term that no chunk has is not looked up, so the next search must count it again.
      if (count > 0) this.#counts.set(match, count)
    }
    return {
      chunks: segments.stats.reduce((sum, { chunks }) => sum + chunks, 0),
      chunksWith: (term) => counts.get(matchOf(projectId, term)) ?? 0,
    }
  }
}

function withoutTitle(passage: WordedPassage): WordedPassage {
  return { ...passage, title: new Uint32Array() }
}

/** What segments have of a term. */
function rangeOf(projectId: number, { stem, folded, isPrefix }: Term): SoughtTerm {
  const from = ownWord(projectId, isPrefix ? folded : stem)
  return { from, to: isPrefix ? from + lastCharacter : from }
}

/** The term as an FTS5 query. The quotes make FTS5's own syntax plain text. */
function matchOf(projectId: number, term: Term): string {
  return `"${rangeOf(projectId, term).from}"${term.isPrefix ? '*' : ''}`
}

/** Assumes that the rows after the last counted one are as dense as those before it. */
function estimate({ rows, last }: { rows: number; last: number }, { stats }: ChunkSegments): number {
  if (rows < countedRowsMax) return rows
  let [countedChunks, all] = [0, 0]
  for (const { chunks, firstLabel, lastLabel } of stats) {
    const share = (last - firstLabel + 1) / (lastLabel - firstLabel + 1)
    countedChunks += chunks * Math.min(1, Math.max(0, share))
    all += chunks
  }
  return Math.max(rows, Math.min(all, Math.round((rows * all) / Math.max(rows, countedChunks))))
}

interface Choice {
  counts: TermCounts
  /** The only labels to search; undefined for all. */
  labels: readonly number[] | undefined
  effort: Effort
  /** How many passages to read even if the effort allows fewer. */
  atLeast: number
}

/** The terms that some chunk has, the rarest first. */
function byRarity(terms: readonly Term[], { chunksWith }: TermCounts): Term[] {
  return terms.filter((term) => chunksWith(term) > 0).sort((a, b) => chunksWith(a) - chunksWith(b))
}

/** Returns as many of the rarest terms as a ranked query may have. */
function rarestOf(terms: readonly Term[], { chunksWith }: TermCounts, effort: Effort): readonly Term[] {
  let rows = 0
  const end = terms.findIndex((term, at) => {
    rows += chunksWith(term)
    return at >= effort.rankedTermsMax || rows > (at === 0 ? effort.rankedAloneRowsMax : effort.rankedRowsMax)
  })
  return end < 0 ? terms : terms.slice(0, end)
}

function widened(effort: Effort, share: number): Effort {
  const rankedRowsMax = effort.rankedRowsMax / Math.max(share, 1 / wideningMax)
  return { ...effort, rankedRowsMax, rankedAloneRowsMax: Math.max(rankedRowsMax, effort.rankedAloneRowsMax) }
}

/** Terms that were not read are taken to be as common within the filter as they are elsewhere. */
function countsAmong(
  { length: chunks }: readonly number[],
  share: number,
  all: TermCounts,
  strengths: ReadonlyMap<Term, TermStrengths | undefined>,
): TermCounts {
  return {
    chunks,
    chunksWith: (term) => strengths.get(term)?.labels.length ?? all.chunksWith(term) * share,
  }
}

/** The most specific first: the rarest common terms together, then any of them. */
function fillingMatches(common: readonly string[], isSupplement: boolean): string[] {
  if (common.length === 0) return []
  const rarest = common.slice(0, 3)
  const together = [3, 2].filter((count) => rarest.length >= count)
  const matches = together.map((count) => rarest.slice(0, count).join(' AND '))
  return isSupplement ? matches : [...matches, common.join(' OR ')]
}
