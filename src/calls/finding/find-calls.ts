import { eq, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../../db/reader.ts'
import { projects } from '../../db/schema.ts'
import { preparedQueries } from '../../db/store.ts'
import { type CallSearch, isFiltered } from './call-query.ts'
import type { Condition, Path } from './conditions.ts'
import { allTime, cutPeriod, type Period } from './counts.ts'
import { isByDuration, isDescending, type Place } from './place.ts'
import {
  isCurrent,
  isInSegments,
  matchOfAny,
  type SoughtWords,
  seekWords,
  seqsMatching,
  seqsMatchingAmong,
} from './word-match.ts'
import type { WordQuery } from './word-query.ts'

/** How far matching calls are counted. */
export const totalMax = 10_000
const limitsDefault = {
  /** If more calls than this meet a condition, not all of them are read. */
  counted: totalMax,
  /** Calls with the words are read one by one if there are no more than this. */
  few: 1_000,
  /** A search for common words tries the first calls, then more of them, then all. */
  window: { least: 300, most: 32_000 },
}

/** So many calls are looked at in a window in the time in which one with the words is read by its number. */
const windowPerFound = 4
/** Takes a few milliseconds. */
const sliceCallsMax = 4_000
/** At a million calls, each has 12 KB of text. */
const fewQueriesMax = 200

/** A call that was found. */
export interface FoundPlace extends Place {
  seq: number
  /** The length of its document. */
  chars: number
}

/**
 * Finds the calls that match a search, except for its phrases: reads one index, and checks the other conditions on its
 * calls. If at most `totalMax` calls meet a condition, the smallest such index is read. Otherwise calls are read in
 * list order until there are enough, which takes longest when frequent conditions rarely coincide: some 0.1 us for each
 * call of the project, or for each with the evaluation.
 */
export class CallFinder {
  readonly #db: ReadDatabase
  readonly #projectId: number
  readonly #search: CallSearch
  readonly #limits: typeof limitsDefault
  #source: Promise<Source> | undefined
  #sought: Promise<SoughtWords> | undefined
  /** How many of the calls with the words match; null if too many have the words, undefined until they are listed. */
  #amongFew: number | null | undefined
  /** Of each condition. */
  readonly #checks: SQL[]

  constructor(db: ReadDatabase, projectId: number, search: CallSearch, limits = limitsDefault) {
    this.#db = db
    this.#projectId = projectId
    this.#search = search
    this.#limits = limits
    this.#checks = search.conditions.map(({ check }) => check)
  }

  /** The first calls in the search's order, after the previous page. */
  async places(limit: number, { offset = 0, after = this.#search.after } = {}): Promise<FoundPlace[]> {
    const { words } = this.#search
    if (limit === 0 || words?.length === 0) return []
    if (words && this.#amongFew !== null) {
      const places = await this.#listFew(words, { limit, offset }, after)
      if (places) return places
    }
    const page = sql`limit ${limit} offset ${offset}`
    this.#source ??= this.#chooseSource()
    const source = await this.#source
    if (!source.words) return await this.#select(sql`${this.#rows(source, after)} ${page}`)
    const { seqs, found, callsPerFound } = source.words
    if (seqs?.length === 0) return []
    const { least, most } = this.#limits.window
    const likely = Math.max(least, Math.ceil(1.5 * (offset + limit) * callsPerFound))
    const isInWindow = seqs === null && likely < found * windowPerFound
    for (let few = isInWindow ? Math.min(likely, most) : most + 1; few <= most; ) {
      const { places, looked } = await this.#inWindow(source, { few, page, after })
      if (looked < few || places.length === limit) return places
      few = largerWindow(few, {
        wanted: offset + limit,
        found: places.length > 0 ? offset + places.length : 0,
        most,
      })
    }
    return await this.#select(sql`${this.#rowsWithWords(source.words, after)} ${this.#inOrder} ${page}`)
  }

  /** The row numbers of the first calls that match. */
  async firstSeqs(max: number): Promise<number[]> {
    if (this.#search.words?.length === 0) return []
    this.#source ??= this.#chooseSource()
    const source = await this.#source
    const rows = source.words
      ? sql`${this.#rowsWithWords(source.words, undefined)} ${this.#inOrder}`
      : this.#rows(source, undefined)
    return await this.#listOf(sql`select seq from (${rows} limit ${max})`)
  }

  /**
   * How many calls match: exact without filters, otherwise counted to one beyond the limit.
   * @param most the limit if no words are searched for
   */
  async count(most = this.#limits.counted): Promise<number> {
    if (!isFiltered(this.#search)) return await readCallCount(this.#db, this.#projectId)
    const { words } = this.#search
    if (words?.length === 0) return 0
    if (words && this.#amongFew === undefined) await this.#listFew(words, { limit: 0, offset: 0 }, undefined)
    if (typeof this.#amongFew === 'number') return this.#amongFew
    this.#source ??= this.#chooseSource()
    const source = await this.#source
    const max = this.#limits.counted + 1
    if (!source.words) {
      if (source.total !== null) return Math.min(source.total, most + 1)
      if (source.isCapped && most <= this.#limits.counted) return most + 1
      return await this.#countOf(sql`${this.#branches(source.countPath)} limit ${most + 1}`)
    }
    if (source.total !== null) return source.total
    if (source.words.seqs === null && source.size <= this.#limits.counted) {
      const some = this.#window(source, this.#limits.counted, undefined)
      return await this.#countOf(sql`select seq from (
        with some as materialized (${some}) select seq from (${seqsMatchingAmong(source.words.sought, sql`some`)}))`)
    }
    return await this.#countOf(
      sql`select seq from (${this.#rowsWithWords(source.words, undefined)}) limit ${max}`,
    )
  }

  /**
   * Selects columns of the rows of `calls` that match. What few calls meet is one slice; otherwise each is looked for among
   * some `callsMax` calls, so that other queries run in between.
   */
  async *slices(columns: SQL, callsMax = sliceCallsMax): AsyncGenerator<SQL> {
    if (this.#search.words?.length === 0) return
    this.#source ??= this.#chooseSource()
    const { countPath, size, words } = await this.#source
    const { counted } = this.#limits
    if (words && (words.seqs !== null || words.found <= counted))
      return yield this.#rowsWithWords(words, undefined, columns)
    const { from, to, conditions } = this.#search
    const completed = conditions.find((condition) => condition.completed)?.completed
    if (size > counted && completed && !words && from === undefined && to === undefined) {
      for await (const part of this.#cut(callsMax, 'completed_at', completed))
        yield this.#branches(completedIn(part), { columns })
      return
    }
    const periods = size <= counted ? [undefined] : this.#cut(callsMax, 'created_at', { from, to })
    for await (const period of periods) {
      const rows = this.#branches(countPath, { columns, ...(period ? { period } : {}) })
      yield words
        ? sql`select * from (with some as materialized (${rows})
            select * from some where seq in (${seqsMatchingAmong(words.sought, sql`some`)}))`
        : rows
    }
  }

  #cut(
    callsMax: number,
    column: 'created_at' | 'completed_at',
    { from = allTime.from, to = allTime.to }: { from?: number | undefined; to?: number | undefined },
  ): AsyncGenerator<Period> {
    return cutPeriod(this.#db, this.#projectId, { from, to }, { column, callsMax })
  }

  #seek(words: readonly WordQuery[]): Promise<SoughtWords> {
    this.#sought ??= seekWords(this.#db, this.#projectId, words)
    return this.#sought
  }

  /**
   * A page of the calls with the words, and how many match, in one query: most words are rare. Without conditions it is
   * kept, since Drizzle takes as long to write it as SQLite to run it. It tells when the words are no longer where it looks.
   * @returns null if too many calls have the words
   */
  async #listFew(
    words: readonly WordQuery[],
    page: { limit: number; offset: number },
    after: Place | undefined,
  ): Promise<FoundPlace[] | null> {
    const { conditions, order, from = allTime.from, to = allTime.to } = this.#search
    const { few } = this.#limits
    const projectId = this.#projectId
    const kept = fewQueries(this.#db)
    const name = `${projectId} ${order} ${after !== undefined}`
    const match = matchOfAny({ projectId, queries: words })
    const values = { projectId, match, few, listed: few + 1, from, to, ...after, ...page }
    let row: FewRow | undefined
    try {
      if (conditions.length === 0) row = await kept.get(name)?.get(values)
    } catch {
      // A segment has been dropped. Any other failure is met again below.
    }
    if (row?.isCurrent !== 1) {
      const sought = await this.#seek(words)
      const query = this.#prepareFew(sought, after !== undefined)
      if (conditions.length === 0 && isInSegments(sought)) kept.set(name, query)
      else kept.delete(name)
      row = await query.get(values)
    }
    this.#amongFew = row?.total ?? null
    if (this.#amongFew === null) return null
    const places: [number, number, string, number, number?][] = JSON.parse(row?.places ?? '[]')
    return places.map(([seq, createdAt, id, chars, duration]) => {
      return { seq, createdAt, id, chars, ...(this.#isByDuration ? { duration } : {}) }
    })
  }

  #prepareFew(sought: SoughtWords, isAfter: boolean) {
    const at = sql.placeholder
    const areFew = sql`(select count(*) from listed) <= ${at('few')}`
    const created = sql`calls.created_at`
    const place = { createdAt: at('createdAt'), id: at('id'), duration: at('duration') }
    const isNext = isAfter ? sql.join(this.#behind(place, created), sql` and `) : sql`true`
    const isInPeriod = sql`${created} >= ${at('from')} and ${created} < ${at('to')}`
    const checks = sql.join([areFew, isInPeriod, ...this.#checks], sql` and `)
    return fewQuery(
      this.#db,
      sql`(
        with listed as materialized (select seq from (${seqsMatching(sought, at('match'))}) limit ${at('listed')}),
          matching as materialized (
            select calls.seq as seq, ${created} as createdAt, calls.id as id, document_chars as chars, calls.duration as duration,
              ${isNext} as isNext
            from listed cross join calls on calls.seq = listed.seq where project_id = ${at('projectId')} and ${checks}),
          page as (select * from matching where isNext ${this.#inOrder} limit ${at('limit')} offset ${at('offset')})
        select case when ${areFew} then (select count(*) from matching) end as total, ${isCurrent(sought)} as isCurrent,
          (select json_group_array(json_array(seq, createdAt, id, chars, duration)) from page) as places)`,
    )
  }

  async #chooseSource(): Promise<Source> {
    const { conditions, from, to, words } = this.#search
    const { counted, few } = this.#limits
    const measured = await this.#measure(conditions)
    // A short period may be read in full.
    if (from !== undefined || to !== undefined) measured.push(...(await this.#sizesOf([byTime])))
    const smallest = measured.reduce((a, b) => (b.path && b.size < a.size ? b : a), unmeasured)
    const size = Math.min(smallest.size, counted + 1)
    const isAlone = conditions.length === 1 && smallest.path?.isOrdered
    const countPath = (size <= counted || isAlone ? smallest.path : null) ?? byTime
    // Reading so many rows by their numbers takes longer than finding the first ones in order.
    const isMany = size > (countPath.words ? few : counted)
    const inOrder = countPath.words ? byTime : countPath
    const path = isMany ? inOrder : countPath
    const [only] = conditions.length <= 1 ? measured : []
    if (words)
      return {
        path,
        countPath,
        size,
        isCapped: false,
        ...(await this.#chooseWords(words, countPath, size, measured.length === 0)),
      }
    const total = only?.isExact ? only.size : null
    return { path, countPath, size, total, isCapped: only?.isCapped ?? false, words: undefined }
  }

  /**
   * How many calls meet each condition, whatever the others are. What few calls have is in an index range. What many
   * have is found soon in the list of all calls.
   */
  async #measure(conditions: readonly Condition[]): Promise<Measured[]> {
    const { from, to } = this.#search
    const isAllTime = from === undefined && to === undefined
    const numbers = await Promise.all(conditions.map((condition) => this.#measureNumbers(condition)))
    const paths = conditions.map(({ path }, at) =>
      path.isScan ? null : path.words ? (numbers[at]?.path ?? null) : path,
    )
    const sizes = await this.#sizesOf(paths.map((path, at) => (numbers[at] && isAllTime ? null : path)))
    return sizes.map((known, at) => {
      if (known.path?.isWider) return { ...known, isExact: false, isCapped: false }
      if (known.path) return known
      return (isAllTime && numbers[at]) || unmeasured
    })
  }

  /** The calls with the words of numbers, unless they are too many to list. */
  async #measureNumbers({ path, check }: Condition): Promise<Measured | undefined> {
    if (!path.words) return undefined
    const max = this.#limits.counted + 1
    const queries = path.words.map((word) => ({ words: [word] }))
    const sought = await seekWords(this.#db, this.#projectId, queries, check)
    const seqs = await this.#listOf(sql`select seq from (${seqsMatching(sought)}) limit ${max}`)
    const where = sql`calls.seq in (select value from json_each(${JSON.stringify(seqs)}))`
    const ranges: Path['ranges'] = [{ table: 'calls', index: null, where }]
    const listed = seqs.length < max ? { ...path, ranges } : null
    const isCapped = seqs.length === max && !path.isWider
    return { path: listed, size: seqs.length, isExact: !isCapped && !path.isWider, isCapped }
  }

  /** Of many calls with the words, those of the smallest path are listed if they are few. */
  async #chooseWords(
    queries: readonly WordQuery[],
    path: Path,
    size: number,
    isAlone: boolean,
  ): Promise<Pick<Source, 'total' | 'words'>> {
    const { counted, few } = this.#limits
    const sought = await this.#seek(queries)
    // SQLite reads every call with a word that begins so before it returns the first one.
    const whole = { ...sought, isWhole: true }
    const most = counted + 1
    const wholes = await this.#countOf(sql`select 1 from (${seqsMatching(whole)}) limit ${most}`)
    const words = wholes > counted ? whole : sought
    if (size <= few) {
      const seqs = await this.#listOf(sql`
        with some as materialized (select seq from (${this.#branches(path)}))
        select seq from (${seqsMatchingAmong(words, sql`some`)})`)
      return { words: { sought: words, seqs, found: seqs.length, callsPerFound: 1 }, total: seqs.length }
    }
    const [row] = await this.#db.select({ found: sql<number>`found`, calls: sql<number>`calls` }).from(sql`(
      select (select count(*) from (select 1 from (${seqsMatching(words)}) limit ${most})) as found,
        (select calls from projects where id = ${this.#projectId}) as calls)`)
    const { found, calls } = row ?? { found: 0, calls: 0 }
    const callsPerFound = found > counted ? 1 : calls / Math.max(1, found)
    return { words: { sought: words, seqs: null, found, callsPerFound }, total: isAlone ? found : null }
  }

  async #listOf(seqs: SQL): Promise<number[]> {
    const [row] = await this.#db.select({ seqs: sql<string>`json_group_array(seq)` }).from(sql`(${seqs})`)
    return JSON.parse(row?.seqs ?? '[]')
  }

  /** How many calls each path has, counted to `max`, by default one beyond the limit, whatever the other conditions are. */
  async #sizesOf(paths: readonly (Path | null)[], max = this.#limits.counted + 1): Promise<Measured[]> {
    const counts = paths.flatMap((path, at) =>
      path
        ? [sql`select ${at} as at, count(*) as size from (${this.#branches(path, { isAlone: true, max })})`]
        : [],
    )
    if (counts.length === 0) return paths.map(() => empty)
    const rows = await this.#db
      .select({ at: sql<number>`at`, size: sql<number>`size` })
      .from(sql`(${sql.join(counts, sql` union all `)})`)
    const sizes = new Map(rows.map(({ at, size }) => [at, size]))
    return paths.map((path, at) => {
      const size = sizes.get(at) ?? 0
      return { path, size, isExact: size < max, isCapped: size === max }
    })
  }

  /** Calls in order that match everything but the words. */
  #rows({ path }: Source, after: Place | undefined): SQL {
    return sql`${this.#branches(path, { after })} ${this.#inOrder}`
  }

  /**
   * A select for each range of the path. SQLite merges ordered ranges lazily, while `in` would read all of them.
   * @param isAlone without the other conditions
   * @param max the limit of each range and of all together
   * @param columns to select instead of the place
   * @param period by default that of the search
   */
  #branches(
    path: Path,
    {
      after,
      isAlone = false,
      max,
      columns,
      period,
    }: { after?: Place | undefined; isAlone?: boolean; max?: number; columns?: SQL; period?: Period } = {},
  ): SQL {
    const checks = this.#search.conditions.flatMap((condition, at) =>
      isAlone || (condition.path === path && !path.isWider) ? [] : [this.#checks[at] ?? condition.check],
    )
    const branches = path.ranges.map(({ table, index, where }) => {
      // Of no index, SQLite still reads rows by their number.
      const indexed =
        index === undefined ? sql`` : sql.raw(index === null ? ' not indexed' : ` indexed by ${index}`)
      const needsCall = table !== 'calls' && !isAlone
      const toCalls = needsCall ? sql` cross join calls on calls.seq = ${sql.raw(table)}.seq` : sql``
      const created = sql.raw(`${table}.created_at`)
      const place = isAlone
        ? sql``
        : sql`, ${columns ?? sql`${created} as createdAt, calls.id as id${this.#duration}`}`
      const wheres = [
        sql`${sql.raw(table)}.project_id = ${this.#projectId}`,
        where,
        ...this.#times(created, after, period),
        ...checks,
      ]
      return sql`select ${sql.raw(table)}.seq as seq${place} from ${sql.raw(table)}${indexed}${toCalls}
        where ${sql.join(wheres, sql` and `)}`
    })
    if (max === undefined) return sql.join(branches, path.isOrdered ? sql` union all ` : sql` union `)
    const limited = branches.map((branch) => sql`select * from (${branch} limit ${max})`)
    const all = sql.join(limited, sql` union all `)
    // Stops at the limit; `union` would read each branch first.
    return path.isOrdered ? sql`${all} limit ${max}` : sql`select distinct seq from (${all}) limit ${max}`
  }

  #times(created: SQL, after?: Place, { from, to }: Partial<Period> = this.#search): SQL[] {
    return [
      ...(from === undefined ? [] : [sql`${created} >= ${from}`]),
      ...(to === undefined ? [] : [sql`${created} < ${to}`]),
      ...(after ? this.#behind(after, created) : []),
    ]
  }

  /** The first check lets SQLite seek in an index without some of the sort columns. */
  #behind({ createdAt, id, duration }: PlaceIn, created: SQL): SQL[] {
    const isAfter = isDescending(this.#search.order) ? sql`<` : sql`>`
    if (!this.#isByDuration)
      return [
        sql`${created} ${isAfter}= ${createdAt}`,
        sql`(${created}, calls.id) ${isAfter} (${createdAt}, ${id})`,
      ]
    return [
      sql`calls.duration ${isAfter}= ${duration}`,
      sql`(calls.duration, ${created}, calls.id) ${isAfter} (${duration}, ${createdAt}, ${id})`,
    ]
  }

  get #isByDuration(): boolean {
    return isByDuration(this.#search.order)
  }

  /** The leading sort column, if the order has one before time and id. */
  get #duration(): SQL {
    return this.#isByDuration ? sql`, calls.duration as duration` : sql``
  }

  get #inOrder(): SQL {
    const direction = isDescending(this.#search.order) ? sql`desc` : sql`asc`
    const first = this.#isByDuration ? sql`duration ${direction}, ` : sql``
    return sql`order by ${first}createdAt ${direction}, id ${direction}`
  }

  /** The first calls of a source, whatever their words. */
  #window(source: Source, few: number, after: Place | undefined): SQL {
    return sql`select * from (${this.#rows(source, after)} limit ${few})`
  }

  /**
   * Which of the first calls have the words; `looked` is how many were checked. Common words are found soon this way:
   * the keyword index is ordered by row number, not by time, so it would have to return all its calls.
   */
  async #inWindow(
    source: Source,
    { few, page, after }: { few: number; page: SQL; after: Place | undefined },
  ): Promise<{ places: FoundPlace[]; looked: number }> {
    if (!source.words) throw new Error('Only words are searched for in a window')
    const seqs = seqsMatchingAmong(source.words.sought, sql`some`)
    const rows = await this.#db.select({ ...this.#placeColumns, looked: sql<number>`looked` }).from(sql`(
      with some as materialized (${this.#window(source, few, after)})
      select * from (select count(*) as looked from some) left join (
        select * from some where seq in (${seqs}) ${this.#inOrder} ${page}) on true) as found`)
    return { places: rows.filter(({ seq }) => seq !== null), looked: rows[0]?.looked ?? 0 }
  }

  /** All calls that have the words and match the filters. */
  #rowsWithWords(words: Words, after: Place | undefined, columns?: SQL): SQL {
    const wheres = [
      sql`calls.project_id = ${this.#projectId}`,
      ...this.#checks,
      ...this.#times(sql`calls.created_at`, after),
    ]
    const place = columns ?? sql`calls.created_at as createdAt, calls.id as id${this.#duration}`
    return sql`select calls.seq as seq, ${place} from (${seqsOf(words)}) as found cross join calls on calls.seq = found.seq
      where ${sql.join(wheres, sql` and `)}`
  }

  async #select(rows: SQL): Promise<FoundPlace[]> {
    return await this.#db.select(this.#placeColumns).from(sql`(${rows}) as found`)
  }

  get #placeColumns() {
    return { ...placeColumns, ...(this.#isByDuration ? { duration: sql<number>`found.duration` } : {}) }
  }

  async #countOf(rows: SQL): Promise<number> {
    const [row] = await this.#db.select({ size: sql<number>`count(*)` }).from(sql`(${rows})`)
    return row?.size ?? 0
  }
}

/** A place, or the placeholders of one. */
type PlaceIn = { [Name in keyof Place]: Place[Name] | Placeholder }

function fewQuery(db: ReadDatabase, found: SQL) {
  const total = sql<number | null>`total`
  return db
    .select({ total, isCurrent: sql<number>`isCurrent`, places: sql<string>`places` })
    .from(found)
    .prepare()
}

type FewRow = Awaited<ReturnType<ReturnType<typeof fewQuery>['get']>>

/** By project, order, and whether they begin after a place. */
const fewQueries = preparedQueries(
  (_) => new LRUCache<string, ReturnType<typeof fewQuery>>({ max: fewQueriesMax }),
)

/** How many calls a path has. Without a path, they are looked for among all calls. */
interface Measured {
  path: Path | null
  size: number
  isExact: boolean
  /** Whether at least so many calls match: one more than are counted. */
  isCapped: boolean
}
const unmeasured: Measured = { path: null, size: Number.POSITIVE_INFINITY, isExact: false, isCapped: false }
const empty: Measured = { path: null, size: 0, isExact: true, isCapped: false }

/** The calls that were completed in a period. */
function completedIn({ from, to }: Period): Path {
  const where = sql`calls.completed_at >= ${from} and calls.completed_at < ${to}`
  return { ranges: [{ table: 'calls', index: 'calls_by_completed_at', where }], isOrdered: false }
}

/** All calls. */
const byTime: Path = {
  ranges: [{ table: 'calls', index: 'calls_by_created_at', where: sql`true` }],
  isOrdered: true,
}

const placeColumns = {
  seq: sql<number>`found.seq`,
  createdAt: sql<number>`found.createdAt`,
  id: sql<string>`found.id`,
  chars: sql<number>`(select document_chars from calls where calls.seq = found.seq)`,
}

interface Words {
  sought: SoughtWords
  /** Those of the smallest path that have the words, if they are few. */
  seqs: number[] | null
  /** How many calls those are, or have the words, counted to one beyond the limit. */
  found: number
  /** One in how many calls has the words, if they are not too many to count. */
  callsPerFound: number
}

/** The calls with the words. */
function seqsOf({ sought, seqs }: Words): SQL {
  return seqs === null
    ? seqsMatching(sought)
    : sql`select value as seq from json_each(${JSON.stringify(seqs)})`
}

/** Where to read calls. */
interface Source {
  path: Path
  /** The index to count calls in: one that covers the checks. */
  countPath: Path
  /** How many calls the smallest path has, counted to one beyond the limit. */
  size: number
  /** How many calls match, apart from words, if that is known. */
  total: number | null
  /** Whether more calls match than are counted. */
  isCapped: boolean
  words: Words | undefined
}

/** A window large enough for the wanted calls, judging by how many the last one had. */
function largerWindow(
  few: number,
  { wanted, found, most }: { wanted: number; found: number; most: number },
): number {
  if (few >= most) return most + 1
  const enough = found === 0 ? most : Math.ceil((few * wanted * 1.5) / found)
  return Math.min(most, Math.max(enough, 4 * few))
}

/** How many calls a project has. */
async function readCallCount(db: ReadDatabase, projectId: number): Promise<number> {
  const [row] = await db.select({ calls: projects.calls }).from(projects).where(eq(projects.id, projectId))
  return row?.calls ?? 0
}
