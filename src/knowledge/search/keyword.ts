import { type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../../db/reader.ts'
import { chunks } from '../../db/schema.ts'
import type { StoreOf } from '../../db/store.ts'
import { chunkWords } from '../../db/word-tables.ts'
import { type Passage, readPassages } from './passages.ts'
import { readTerms, type Term } from './query.ts'
import { rankPassages } from './rank-passages.ts'

/** How much a search may look at. */
interface Effort {
  /** Terms of a ranked query: each is looked up in every segment of the keyword index, in 50 us altogether. */
  rankedTermsMax: number
  /** Rows that the terms of a ranked query may have together: FTS5 takes 1.2 us for each. */
  rankedRowsMax: number
  /** The same for a query that has nothing rarer to offer. */
  rankedAloneRowsMax: number
  /** Passages that the rare terms choose, to be put in order by all that they say. */
  passagesMax: number
  /** Passages that common terms fill up to; in no order, so there are more for the right ones to be among them. */
  filledPassagesMax: number
  /** Whether common terms are looked up although rare ones have found something. */
  supplements: boolean
}

const wholeEffort: Effort = {
  rankedTermsMax: 64,
  rankedRowsMax: 1_000,
  rankedAloneRowsMax: 4_000,
  passagesMax: 40,
  filledPassagesMax: 80,
  supplements: true,
}
/** A quarter of the time, when much of it went by before the search could begin. */
const hurriedEffort: Effort = {
  rankedTermsMax: 4,
  rankedRowsMax: 200,
  rankedAloneRowsMax: 500,
  passagesMax: 9,
  filledPassagesMax: 9,
  supplements: false,
}
/** A term's rows are counted up to here; beyond, their number is estimated from how densely they lie. */
const countedRowsMax = wholeEffort.rankedRowsMax + 1
const cachedCountsMax = 20_000
const cachedForMs = 300_000
const cachedProjectsMax = 200

interface KeywordSearchOptions {
  store: StoreOf
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

/**
 * Passages by their words. The rarest terms of a query choose the passages, as many of them as can be looked up in
 * a bounded time; all its terms order them. So neither common words nor a large project make it slow, and no
 * list says which words are common: each project's own chunks do, in whatever language.
 */
export class KeywordSearch {
  readonly #options: KeywordSearchOptions
  readonly #queries = new LRUCache<number, WordQueries>({ max: cachedProjectsMax })
  readonly #spans: LRUCache<number, Span>
  readonly #counts: LRUCache<string, number>

  constructor(options: KeywordSearchOptions) {
    this.#options = options
    const fresh = { ttl: cachedForMs, perf: { now: options.now } }
    this.#spans = new LRUCache({ max: cachedProjectsMax, ...fresh })
    this.#counts = new LRUCache({ max: cachedCountsMax, ...fresh })
  }

  /**
   * Passages best first.
   * @param choice.labels the only ones to look at, if given
   * @param choice.inHurry looks at fewer passages
   * @param choice.atLeast but at so many in any case
   */
  async search(
    projectId: number,
    query: string,
    {
      labels,
      inHurry,
      atLeast = 0,
    }: { labels: readonly number[] | undefined; inHurry: boolean; atLeast?: number },
  ): Promise<Passage[]> {
    const { read } = this.#options.store(projectId)
    const terms = readTerms(query)
    if (terms.length === 0 || labels?.length === 0) return []
    const queries = this.#queriesOf(projectId, read)
    const { span, counted } = await this.#count(projectId, terms, queries)
    const chunksWith = (term: Term) => counted.get(term) ?? 0
    const within = labels ? JSON.stringify(labels) : null
    const effort = withPassages(inHurry ? hurriedEffort : wholeEffort, atLeast)
    const found = await findLabels(queries, terms, { chunksWith, within, effort })
    const passages = await readPassages(read, projectId, found)
    return rankPassages(terms, passages, { chunks: span.chunks, chunksWith })
  }

  /** How many chunks have each term. An old count changes what a query costs and how much its term weighs. */
  async #count(
    projectId: number,
    terms: readonly Term[],
    queries: WordQueries,
  ): Promise<{ span: Span; counted: ReadonlyMap<Term, number> }> {
    const counted = new Map<Term, number>()
    for (const term of terms) {
      const count = this.#counts.get(keyOf(projectId, term))
      if (count !== undefined) counted.set(term, count)
    }
    const uncounted = terms.filter((term) => !counted.has(term))
    // Both at once: on a database server each is a trip.
    const [span, rows] = await Promise.all([this.#spanOf(projectId, queries), countRows(queries, uncounted)])
    for (const term of uncounted) {
      const row = rows.get(term.match)
      const count = row ? estimate(row, span) : 0
      counted.set(term, count)
      // What nothing has is not looked up, so the next search must see whether something has it by then.
      if (count > 0) this.#counts.set(keyOf(projectId, term), count)
    }
    return { span, counted }
  }

  async #spanOf(projectId: number, queries: WordQueries): Promise<Span> {
    const cached = this.#spans.get(projectId)
    if (cached) return cached
    const row = await queries.span.get({ projectId })
    const span = { chunks: row?.chunks ?? 0, first: row?.first ?? 0, last: row?.last ?? 0 }
    this.#spans.set(projectId, span)
    return span
  }

  #queriesOf(projectId: number, read: ReadDatabase): WordQueries {
    let queries = this.#queries.get(projectId)
    if (!queries) {
      queries = prepareWordQueries(read, projectId)
      this.#queries.set(projectId, queries)
    }
    return queries
  }
}

/** How many chunks a project has, and between which labels they lie. */
interface Span {
  chunks: number
  first: number
  last: number
}

/** Rows that were counted, and the last of them. */
interface Counted {
  rows: number
  last: number | null
}

function keyOf(projectId: number, { match }: Term): string {
  return `${projectId} ${match}`
}

/** Of all the terms in one query, by what they match. */
async function countRows(queries: WordQueries, terms: readonly Term[]): Promise<Map<string, Counted>> {
  if (terms.length === 0) return new Map()
  const rows = await queries.counts.all({ matches: JSON.stringify(terms.map(({ match }) => match)) })
  return new Map(rows.map(({ match, counted }) => [match, JSON.parse(counted)]))
}

/** What was not counted to its end is taken to go on as densely as it began. */
function estimate({ rows, last }: Counted, span: Span): number {
  if (rows < countedRowsMax || last === null || span.last <= span.first) return rows
  const share = Math.min(1, Math.max(0, last - span.first + 1) / (span.last - span.first + 1))
  return Math.max(rows, Math.min(span.chunks, Math.round(rows / Math.max(share, rows / span.chunks))))
}

function withPassages(effort: Effort, atLeast: number): Effort {
  return {
    ...effort,
    passagesMax: Math.max(effort.passagesMax, atLeast),
    filledPassagesMax: Math.max(effort.filledPassagesMax, atLeast),
  }
}

interface Choice {
  chunksWith: (term: Term) => number
  /** The labels to stay within, as JSON; null for all. */
  within: string | null
  effort: Effort
}

/** Labels of the passages that are worth reading, those of rare terms first. */
async function findLabels(queries: WordQueries, terms: readonly Term[], choice: Choice): Promise<number[]> {
  const { chunksWith, within, effort } = choice
  const byRarity = terms.filter((term) => chunksWith(term) > 0).sort((a, b) => chunksWith(a) - chunksWith(b))
  const rare = rarestOf(byRarity, choice)
  const common = byRarity.slice(rare.length)
  const found = new Set<number>()
  if (rare.length > 0) {
    const rows = await queries.ranked(anyOf(rare), within, effort.passagesMax)
    for (const { label } of rows) found.add(label)
  }
  if (common.length === 0 || (found.size > 0 && !effort.supplements)) return [...found]
  for (const match of fillingMatches(common, found.size > 0 && within === null)) {
    if (found.size >= effort.passagesMax) break
    const rows = await queries.unranked(match, within, effort.filledPassagesMax)
    for (const { label } of rows) found.add(label)
  }
  return [...found]
}

/** As many of the rarest terms as a ranked query may have. */
function rarestOf(byRarity: readonly Term[], { chunksWith, effort }: Choice): Term[] {
  let rows = 0
  const rare: Term[] = []
  for (const term of byRarity.slice(0, effort.rankedTermsMax)) {
    rows += chunksWith(term)
    if (rows > (rare.length === 0 ? effort.rankedAloneRowsMax : effort.rankedRowsMax)) break
    rare.push(term)
  }
  return rare
}

/** From what says most to what says least: the rarest of the common terms together, then any of them. */
function fillingMatches(common: readonly Term[], isSupplement: boolean): string[] {
  const together = [3, 2].filter((count) => common.length >= count)
  const matches = together.map((count) => allOf(common.slice(0, count)))
  return isSupplement ? matches : [...matches, anyOf(common)]
}

function anyOf(terms: readonly Term[]): string {
  return terms.map(({ match }) => match).join(' OR ')
}

function allOf(terms: readonly Term[]): string {
  return terms.map(({ match }) => match).join(' AND ')
}

type WordQueries = ReturnType<typeof prepareWordQueries>

/** Drizzle has no FTS5, and each project has a table of its own. */
function prepareWordQueries(db: ReadDatabase, projectId: number) {
  const table = chunkWords(projectId)
  const match = sql`${table} match ${sql.placeholder('match')}`
  // The plus keeps SQLite from asking the keyword index for each label on its own.
  const isWithin = sql`+rowid in (select value from json_each(${sql.placeholder('within')}))`
  const rows = (condition: SQL, order: SQL) =>
    db
      .select({ label: sql<number>`label` })
      .from(
        sql`(select rowid as label from ${table} where ${condition} ${order} limit ${sql.placeholder('limit')})`,
      )
      .prepare()
  const byRank = sql`order by rank`
  const ranked = [rows(match, byRank), rows(sql`${match} and ${isWithin}`, byRank)] as const
  const unranked = [rows(match, sql``), rows(sql`${match} and ${isWithin}`, sql``)] as const
  type Pair = typeof ranked
  const labels = (pair: Pair) => (text: string, within: string | null, limit: number) =>
    within === null ? pair[0].all({ match: text, limit }) : pair[1].all({ match: text, within, limit })
  return {
    ranked: labels(ranked),
    unranked: labels(unranked),
    counts: db
      .select({
        match: sql<string>`terms.value`,
        counted: sql<string>`(select json_object('rows', count(*), 'last', max(label))
          from (select rowid as label from ${table} where ${table} match terms.value limit ${countedRowsMax}))`,
      })
      .from(sql`json_each(${sql.placeholder('matches')}) as terms`)
      .prepare(),
    span: db
      .select({
        chunks: sql<number>`count(*)`,
        first: sql<number | null>`min(label)`,
        last: sql<number | null>`max(label)`,
      })
      .from(sql`${chunks}`)
      .where(sql`project_id = ${sql.placeholder('projectId')}`)
      .prepare(),
  }
}
