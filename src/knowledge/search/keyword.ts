import { LRUCache } from 'lru-cache'
import type { StoreOf } from '../../db/store.ts'
import { KeptPassageWords, type WordedPassage } from './passage-words.ts'
import { readTerms, type Term } from './query.ts'
import { rankPassages, type TermCounts } from './rank-passages.ts'
import { RankedTerms } from './ranked-terms.ts'
import type { WordForms } from './word-forms.ts'
import { countedRowsMax, prepareWordQueries, type WordQueries } from './word-queries.ts'

/** Limits of one search. */
const wholeEffort = {
  /** Terms of a ranked query. Each is looked up in every segment of the keyword index, which takes 50 us. */
  rankedTermsMax: 64,
  /** Rows that the terms of a ranked query have together. FTS5 takes 1.2 us for each. */
  rankedRowsMax: 1_000,
  /** The same for a ranked query of a single term. */
  rankedAloneRowsMax: 4_000,
  /** Passages found by rare terms. All terms of the query then decide their order. */
  passagesMax: 60,
  /** Passages found by common terms. They come unordered, so more are read to include the best ones. */
  filledPassagesMax: 80,
  /** Whether to look up common terms even if rare ones have found something. */
  supplements: true,
}
type Effort = typeof wholeEffort
/** Takes a quarter of the time. */
const hurriedEffort: Effort = {
  rankedTermsMax: 4,
  rankedRowsMax: 200,
  rankedAloneRowsMax: 500,
  passagesMax: 9,
  filledPassagesMax: 9,
  supplements: false,
}
const cachedCountsMax = 20_000
const cachedForMs = 300_000
const cachedProjectsMax = 200

interface Limits {
  /** The only labels to search; undefined for all. */
  labels: readonly number[] | undefined
  /** Looks at fewer passages. */
  inHurry: boolean
  /** Looks at this many passages even in a hurry. */
  atLeast?: number
}

interface Candidates {
  terms: Term[]
  counts: TermCounts
  passages: WordedPassage[]
  forms: WordForms
}

/**
 * Finds passages by their words. A query's rarest terms choose the passages, as many terms as can be looked up in a
 * bounded time; then all its terms order them. So neither common words nor a large project make a search slow. Which
 * words are common is counted in each project's own chunks, so it works in any language.
 */
export class KeywordSearch {
  readonly #store: StoreOf
  readonly #queries: LRUCache<number, WordQueries>
  readonly #spans: LRUCache<number, Span>
  readonly #counts: LRUCache<string, number>
  readonly #ranked = new RankedTerms()
  readonly #words = new KeptPassageWords()

  /** @param options.now milliseconds of a monotonic clock */
  constructor({ store, now }: { store: StoreOf; now: () => number }) {
    this.#store = store
    this.#queries = new LRUCache({
      max: cachedProjectsMax,
      memoMethod: (projectId: number) => prepareWordQueries(store(projectId).read, projectId),
    })
    const fresh = { ttl: cachedForMs, perf: { now } }
    this.#spans = new LRUCache({
      max: cachedProjectsMax,
      ...fresh,
      fetchMethod: (projectId: number) => this.#queries.memo(projectId).span.get({ projectId }),
      ignoreFetchAbort: true,
    })
    this.#counts = new LRUCache({ max: cachedCountsMax, ...fresh })
  }

  /** Labels of chunks, best first. */
  async search(projectId: number, query: string, limits: Limits): Promise<number[]> {
    const { terms, counts, passages, forms } = await this.candidates(projectId, query, limits)
    return rankPassages(terms, passages, forms, counts)
  }

  /** The passages that a query's rarest terms choose, and what is needed to order them. */
  async candidates(
    projectId: number,
    query: string,
    { labels, inHurry, atLeast = 0 }: Limits,
  ): Promise<Candidates> {
    const { read } = this.#store(projectId)
    const terms = labels?.length === 0 ? [] : readTerms(query)
    const queries = this.#queries.memo(projectId)
    const counts = await this.#count(projectId, terms, queries)
    const effort = inHurry ? hurriedEffort : wholeEffort
    const found = await this.#find(projectId, terms, queries, { counts, labels, effort, atLeast })
    const words = await this.#words.with(read, projectId, found)
    return { terms, counts, passages: words.of(found), forms: words.forms }
  }

  /** Labels of the passages to read, those of rare terms first. */
  async #find(
    projectId: number,
    terms: readonly Term[],
    queries: WordQueries,
    { counts: { chunksWith }, labels, effort, atLeast }: Choice,
  ): Promise<number[]> {
    const limit = Math.max(effort.passagesMax, atLeast)
    const byRarity = terms
      .filter((term) => chunksWith(term) > 0)
      .sort((a, b) => chunksWith(a) - chunksWith(b))
    const rare = rarestOf(byRarity, chunksWith, effort)
    const matches = rare.map(({ match }) => match)
    const found = new Set(
      rare.length > 0 ? await this.#ranked.best(projectId, matches, queries, { labels, limit }) : [],
    )
    if (found.size > 0 && !effort.supplements) return [...found]
    const filledMax = Math.max(effort.filledPassagesMax, atLeast)
    for (const match of fillingMatches(byRarity.slice(rare.length), found.size > 0 && !labels)) {
      if (found.size >= limit) break
      const within = labels ? JSON.stringify(labels) : null
      const rows = await queries.unranked.all({ match, within, limit: filledMax })
      for (const { label } of rows) found.add(label)
    }
    return [...found]
  }

  /** Counts may be old. That changes only what a query costs and how much each term weighs. */
  async #count(projectId: number, terms: readonly Term[], queries: WordQueries): Promise<TermCounts> {
    const keyOf = (match: string) => `${projectId} ${match}`
    const counts = new Map(terms.map(({ match }) => [match, this.#counts.get(keyOf(match))]))
    const uncounted = [...counts.keys()].filter((match) => counts.get(match) === undefined)
    // Both at once: on a database server each is a round trip.
    const [span = { chunks: 0, first: 0, last: 0 }, rows] = await Promise.all([
      this.#spans.fetch(projectId),
      uncounted.length > 0 ? queries.counts.all({ matches: JSON.stringify(uncounted) }) : [],
    ])
    for (const { match, counted } of rows) {
      const count = estimate(JSON.parse(counted), span)
      counts.set(match, count)
      // A term that no chunk has is not looked up, so the next search must count it again.
      if (count > 0) this.#counts.set(keyOf(match), count)
    }
    return { chunks: span.chunks, chunksWith: ({ match }) => counts.get(match) ?? 0 }
  }
}

/** How many chunks a project has, and its lowest and highest label. */
interface Span {
  chunks: number
  first: number
  last: number
}

/** Assumes that the rows after the last counted one are as dense as those before it. */
function estimate({ rows, last }: { rows: number; last: number | null }, span: Span): number {
  if (rows < countedRowsMax || last === null || span.last <= span.first) return rows
  const share = Math.min(1, Math.max(0, last - span.first + 1) / (span.last - span.first + 1))
  return Math.max(rows, Math.min(span.chunks, Math.round(rows / Math.max(share, rows / span.chunks))))
}

interface Choice {
  counts: TermCounts
  /** The only labels to search; undefined for all. */
  labels: readonly number[] | undefined
  effort: Effort
  /** How many passages to read even if the effort allows fewer. */
  atLeast: number
}

/** As many of the rarest terms as a ranked query may have. */
function rarestOf(
  byRarity: readonly Term[],
  chunksWith: TermCounts['chunksWith'],
  effort: Effort,
): readonly Term[] {
  let rows = 0
  const end = byRarity.findIndex((term, at) => {
    rows += chunksWith(term)
    return at >= effort.rankedTermsMax || rows > (at === 0 ? effort.rankedAloneRowsMax : effort.rankedRowsMax)
  })
  return end < 0 ? byRarity : byRarity.slice(0, end)
}

/** The most specific first: the rarest common terms together, then any of them. */
function fillingMatches(common: readonly Term[], isSupplement: boolean): string[] {
  if (common.length === 0) return []
  const rarest = common.slice(0, 3).map(({ match }) => match)
  const together = [3, 2].filter((count) => rarest.length >= count)
  const matches = together.map((count) => rarest.slice(0, count).join(' AND '))
  return isSupplement ? matches : [...matches, anyOf(common)]
}

function anyOf(terms: readonly Term[]): string {
  return terms.map(({ match }) => match).join(' OR ')
}
