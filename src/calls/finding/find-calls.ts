import { eq, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../../db/reader.ts'
import { projects } from '../../db/schema.ts'
import { preparedQueries } from '../../db/store.ts'
import { type CallSearch, isFiltered } from './call-query.ts'
import type { CallList, Condition } from './conditions.ts'
import type { Period } from './period.ts'
import { isDescending, type Place } from './place.ts'
import type { Scan } from './scan.ts'
import { toStatement } from './statement.ts'
import { type SoughtWords, seekWords, seqsMatching, seqsMatchingAmong } from './word-match.ts'
import type { WordQuery } from './word-query.ts'

/** How far matching calls are counted. */
export const totalMax = 10_000
const limitsDefault = {
  /** What more calls than this have is not listed, but looked for among the others. */
  listed: totalMax,
  /** How many calls are looked at in the first slice, and in each further one. */
  slices: { first: 1_000, most: 16_000 },
}
/** Calls with words that are listed together with their first page. */
const fewMax = 1_000
/** Calls of a list whose rows are read at once. */
const listedAtOnce = 3_000
const untilNow = Number.MAX_SAFE_INTEGER
const countsKept = 5_000

/** A call that was found. */
export interface FoundPlace extends Place {
  seq: number
  /** The length of its document. */
  chars: number
}

/**
 * Finds the calls that match a search, except for its phrases. What can be listed is tried in a fixed order: ids and
 * numbers, then words. The first list with at most `listed` calls is read, and the other conditions are checked on its
 * calls. If there is none, all calls are looked through in the order of time, in slices, so that nobody waits for a
 * whole scan.
 */
export class CallFinder {
  readonly #db: ReadDatabase
  readonly #read: ReadDatabase
  readonly #projectId: number
  readonly #search: CallSearch
  readonly #limits: typeof limitsDefault
  #chosen: Promise<Source> | undefined
  /** How many matching calls there are up to the end of the first page; `end` is null if they are all. */
  #paged: { count: number; end: Place | null | undefined } | undefined

  /** @param options.read answers short queries sooner */
  constructor(
    db: ReadDatabase,
    projectId: number,
    search: CallSearch,
    { limits = limitsDefault, read = db } = {},
  ) {
    this.#db = db
    this.#read = read
    this.#projectId = projectId
    this.#search = search
    this.#limits = limits
  }

  /** The first calls in the search's order, after the previous page. */
  async places(limit: number, { offset = 0, after = this.#search.after } = {}): Promise<FoundPlace[]> {
    if (limit === 0 || this.#search.words?.length === 0) return []
    const page = { limit, offset, after }
    const isFirst = !this.#chosen
    const source = await this.#source(page)
    const found =
      (isFirst && source.places) ||
      (source.seqs
        ? await this.#placesInList(source, source.seqs, page)
        : await this.#walkedPlaces(source, page))
    // Beyond the end, an offset does not tell how many there are.
    if (!after && (found.length > 0 || offset === 0))
      this.#paged = { count: offset + found.length, end: found.length < limit ? null : found.at(-1) }
    return found
  }

  async #walkedPlaces(source: Source, { limit, offset, after }: Page): Promise<FoundPlace[]> {
    if (!isFiltered(this.#search))
      return await this.#placesIn(this.#walkedRows(source, { from: 0, to: untilNow }, after), limit, offset)
    const found: FoundPlace[] = []
    let skipped = 0
    for await (const part of this.#parts(after)) {
      const rows = this.#walkedRows(source, part, after)
      const matching = offset > skipped ? await this.#countOf(rows) : 0
      if (offset - skipped >= matching && offset > skipped) {
        skipped += matching
        continue
      }
      found.push(...(await this.#placesIn(rows, limit - found.length, offset - skipped)))
      skipped = offset
      if (found.length >= limit) break
    }
    return found
  }

  /** How many calls match: exact without filters, otherwise counted to one beyond `most`. Goes on where the first page ends. */
  async count(most = totalMax): Promise<number> {
    const { count: paged, end } = this.#paged ?? { count: 0, end: undefined }
    if (end === null) return isFiltered(this.#search) ? Math.min(paged, most + 1) : paged
    if (!isFiltered(this.#search)) return (await readState(this.#read, this.#projectId)).calls
    if (this.#search.words?.length === 0) return 0
    const source = await this.#source()
    if (source.count !== undefined) return Math.min(source.count, most + 1)
    if (source.isMoreThan !== undefined && source.isMoreThan >= most) return most + 1
    if (source.seqs) {
      let count = paged
      for (const seqs of chunksOf(source.seqs))
        count += await this.#countOf(this.#listedRows(source, seqs, end))
      return Math.min(count, most + 1)
    }
    return await this.#keptCount(most, async () => {
      let count = paged
      for await (const part of this.#parts(end)) {
        if (count > most) break
        count += await this.#countOf(sql`${this.#walkedRows(source, part, end)} limit ${most + 1 - count}`)
      }
      return Math.min(count, most + 1)
    })
  }

  /** A walk is counted once for each state of the project, since every page asks. Words are indexed without a new state. */
  async #keptCount(most: number, count: () => Promise<number>): Promise<number> {
    const { words, conditions, from, to } = this.#search
    const check = toStatement(all(conditions.map(({ check }) => check)))
    if (words || check.sql.includes('unixepoch')) return await count()
    const { changeSeq } = await readState(this.#read, this.#projectId)
    const kept = keptCounts(this.#db)
    const name = JSON.stringify([this.#projectId, changeSeq, most, from, to, check])
    const known = kept.get(name)
    if (known !== undefined) return known
    const counted = await count()
    kept.set(name, counted)
    return counted
  }

  /** How to look through all calls that match, for figures. */
  async scan(): Promise<Scan> {
    return { projectId: this.#projectId, ...(await this.#scanned()) }
  }

  async #scanned(): Promise<Omit<Scan, 'projectId'>> {
    const { words, conditions, from = 0, to = untilNow } = this.#search
    const none = { where: toStatement(sql`true`), from, to }
    if (words?.length === 0) return { ...none, rows: { kind: 'seqs', seqs: [] } }
    const source = await this.#source()
    const where = toStatement(all(source.checks))
    if (source.seqs) {
      const seqs = source.words
        ? await this.#listOf(sql`select seq from (${this.#listedRows(source, source.seqs, undefined)})`)
        : source.seqs
      return { where, from, to, rows: { kind: 'seqs', seqs } }
    }
    if (source.words) {
      const parts = this.#seqsBySegment(source.words).map((part) => toStatement(part))
      return { where, from, to, rows: { kind: 'parts', parts } }
    }
    const completed = periodOf(conditions)
    if (completed && from === 0 && to === untilNow)
      return { where, from, to, rows: { kind: 'completed', ...completed } }
    return { where, from, to, rows: { kind: 'created' } }
  }

  #source(page: Page = { limit: 0, offset: 0, after: undefined }): Promise<Source> {
    this.#chosen ??= this.#choose(page)
    return this.#chosen
  }

  async #choose(page: Page): Promise<Source> {
    const { conditions, words } = this.#search
    const max = this.#limits.listed + 1
    const checks = conditions.map(({ check }) => check)
    const { sought, few } = words ? await this.#seek(words, checks, page) : {}
    if (few) return { ...few, checks, words: undefined, ...(this.#isAlone && { count: few.seqs.length }) }
    let known: Pick<Source, 'count' | 'isMoreThan'> = {}
    for (const { at, list, isWider } of this.#lists(sought)) {
      const seqs = await this.#listOf(sql`${await this.#rowsIn(list, conditions[at])} limit ${max}`)
      const isTheOnly = this.#isAlone && !isWider
      if (seqs.length === max) {
        if (isTheOnly) known = { isMoreThan: max - 1 }
        continue
      }
      if (isTheOnly) known = { count: seqs.length }
      // Pages of common words are found sooner among the newest calls.
      if (isTheOnly && list.kind === 'words' && seqs.length > listedAtOnce) continue
      const left = checks.filter((_, each) => each !== at || isWider)
      return { seqs, checks: left, words: list.kind === 'words' ? undefined : sought, ...known }
    }
    return { seqs: null, checks, words: sought, ...known }
  }

  /** Where calls are listed, in the order in which they are tried. `at` is the place of the condition, -1 for none. */
  #lists(sought: SoughtWords | undefined): RankedList[] {
    const { conditions } = this.#search
    const completed = periodOf(conditions)
    const listed = conditions.flatMap(({ list }, at) =>
      list ? [{ at, list, isWider: list.kind === 'numbers' && list.isWider }] : [],
    )
    return [
      ...listed.filter(({ list }) => list.kind === 'rows'),
      ...(completed ? [{ at: -1, list: completedIn(completed), isWider: true }] : []),
      ...listed.filter(({ list }) => list.kind === 'numbers'),
      ...(sought ? [{ at: -1, list: { kind: 'words' as const, sought }, isWider: false }] : []),
    ]
  }

  /** Whether calls have to meet one condition, and nothing else. */
  get #isAlone(): boolean {
    const { conditions, words, from, to } = this.#search
    return conditions.length + (words ? 1 : 0) === 1 && from === undefined && to === undefined
  }

  async #rowsIn(list: RankedList['list'], condition: Condition | undefined): Promise<SQL> {
    const isOwn = sql`calls.project_id = ${this.#projectId}`
    switch (list.kind) {
      case 'rows': {
        const index = sql.raw(list.index === null ? 'not indexed' : `indexed by ${list.index}`)
        return sql`select seq from calls ${index} where ${isOwn} and ${list.where}`
      }
      case 'numbers': {
        const queries = list.words.map((word) => ({ words: [word] }))
        return seqsMatching(
          await seekWords(this.#db, this.#projectId, queries, {
            read: this.#read,
            isMeant: condition?.check,
          }),
        )
      }
      case 'words':
        return seqsMatching(list.sought)
    }
  }

  /** Most words are rare: then their calls are listed at once, with a page of those that match. */
  async #seek(queries: readonly WordQuery[], checks: readonly SQL[], { limit, offset, after }: Page) {
    const sought = await seekWords(this.#db, this.#projectId, queries, { read: this.#read })
    // FTS5 reads every call with a word that begins so before it returns the first one.
    const whole = { ...sought, isWhole: true }
    const max = this.#limits.listed + 1
    const most = Math.min(fewMax, this.#limits.listed)
    const wheres = [sql`(select count(*) from listed) <= ${most}`, ...this.#wheres(checks, after)]
    const [row] = await this.#db
      .select({ size: sql<number>`size`, seqs: sql<string>`seqs`, places: sql<string>`places` })
      .from(sql`(
        with whole as materialized (select count(*) as size from (select 1 from (${seqsMatching(whole)}) limit ${max})),
          listed as materialized (
            select seq from (${seqsMatching(sought)}) where (select size from whole) <= ${most} limit ${most + 1})
        select size, (select json_group_array(seq) from listed) as seqs, (
          select json_group_array(json_array(seq, createdAt, id, chars)) from (
            select ${placeColumns} from listed cross join calls not indexed on calls.seq = listed.seq where ${all(wheres)}
            order by ${this.#order} limit ${limit} offset ${offset})) as places from whole)`)
    const { size = 0, seqs: listed = '[]', places = '[]' } = row ?? {}
    const seqs: number[] = JSON.parse(listed)
    const few = size <= most && seqs.length <= most ? { seqs, places: placesFrom(places) } : undefined
    const isTooMany = size === max && queries.some(({ words }) => words.some(({ beginning }) => beginning))
    return { sought: isTooMany ? whole : sought, few }
  }

  /** The calls of a list that match. */
  #listedRows({ checks, words }: Source, seqs: readonly number[], after: Place | undefined): SQL {
    const listed = sql`json_each(${JSON.stringify(seqs)})`
    const isAmong = words
      ? [sql`calls.seq in (${seqsMatchingAmong(words, sql`(select value as seq from ${listed})`)})`]
      : []
    const wheres = [...this.#wheres(checks, after), ...isAmong]
    return sql`select ${placeColumns} from ${listed} as listed cross join calls not indexed on calls.seq = listed.value where ${all(wheres)}`
  }

  /** The calls of a part that match. */
  #walkedRows({ checks, words }: Source, { from, to }: Period, after: Place | undefined): SQL {
    const inPart = sql`calls.created_at >= ${from} and calls.created_at < ${to}`
    const rows = sql`select ${placeColumns} from calls indexed by calls_by_created_at
      where ${all([isOf(this.#projectId), inPart, ...checks, ...this.#behind(after)])}`
    if (!words) return rows
    return sql`select * from (with some as materialized (${rows})
      select * from some where seq in (${seqsMatchingAmong(words, sql`some`)}))`
  }

  /** Cuts what is looked through into parts by time, in the search's order: the first one small, since most pages end in it. */
  async *#parts(after: Place | undefined): AsyncGenerator<Period> {
    const { order, conditions, from = 0, to: end = untilNow } = this.#search
    // No call is completed before it is created.
    const to = Math.min(end, periodOf(conditions)?.to ?? end)
    const isNewestFirst = isDescending(order)
    const [first, last] = isNewestFirst
      ? [from, after ? Math.min(to, after.createdAt + 1) : to]
      : [after ? Math.max(from, after.createdAt) : from, to]
    const { first: least, most } = this.#limits.slices
    let left = { from: first, to: last }
    for (let size = least; left.from < left.to; size = Math.min(most, size * 8)) {
      const end = await this.#endOf(left, size, isNewestFirst)
      if (end === null) return yield left
      // Calls of one moment stay together.
      const [part, rest] = isNewestFirst
        ? [
            { from: end, to: left.to },
            { from: left.from, to: end },
          ]
        : [
            { from: left.from, to: end + 1 },
            { from: end + 1, to: left.to },
          ]
      yield part
      left = rest
    }
  }

  /** When the call was created that stands at this place of the period; null if it has fewer. */
  async #endOf({ from, to }: Period, size: number, isNewestFirst: boolean): Promise<number | null> {
    const direction = isNewestFirst ? sql`desc` : sql`asc`
    const [row] = await this.#db
      .select({ at: sql<number>`created_at` })
      .from(sql`calls indexed by calls_by_created_at`)
      .where(sql`project_id = ${this.#projectId} and created_at >= ${from} and created_at < ${to}`)
      .orderBy(sql`created_at ${direction}`)
      .limit(1)
      .offset(size)
    return row?.at ?? null
  }

  /** The calls with the words, of each segment alone, and those whose words wait for theirs. */
  #seqsBySegment(sought: SoughtWords): SQL[] {
    const { waiting, segments } = sought
    const indexed = { ...sought, waiting: { seqs: waiting.seqs, matching: [] } }
    const parts = segments.map((segment) => seqsMatching({ ...indexed, segments: [segment] }))
    return waiting.matching.length === 0 ? parts : [seqsMatching({ ...sought, segments: [] }), ...parts]
  }

  /** What a row of `calls` must meet, wherever it is listed. */
  #wheres(checks: readonly SQL[], after: Place | undefined): SQL[] {
    const { from, to } = this.#search
    return [
      isOf(this.#projectId),
      ...checks,
      ...(from === undefined ? [] : [sql`calls.created_at >= ${from}`]),
      ...(to === undefined ? [] : [sql`calls.created_at < ${to}`]),
      ...this.#behind(after),
    ]
  }

  #behind(after: Place | undefined): SQL[] {
    if (!after) return []
    const isAfter = isDescending(this.#search.order) ? sql`<` : sql`>`
    return [sql`(calls.created_at, calls.id) ${isAfter} (${after.createdAt}, ${after.id})`]
  }

  get #order(): SQL {
    const direction = isDescending(this.#search.order) ? sql`desc` : sql`asc`
    return sql`createdAt ${direction}, id ${direction}`
  }

  async #placesIn(rows: SQL, limit: number, offset: number): Promise<FoundPlace[]> {
    const [row] = await this.#db
      .select({ places: sql<string>`json_group_array(json_array(seq, createdAt, id, chars))` })
      .from(sql`(
      select * from (${rows}) order by ${this.#order} limit ${limit} offset ${offset})`)
    return placesFrom(row?.places)
  }

  /** Of a long list the rows are read in parts, so that nobody waits for all of them. */
  async #placesInList(
    source: Source,
    seqs: readonly number[],
    { limit, offset, after }: Page,
  ): Promise<FoundPlace[]> {
    if (seqs.length <= listedAtOnce)
      return await this.#placesIn(this.#listedRows(source, seqs, after), limit, offset)
    const found: FoundPlace[] = []
    for (const part of chunksOf(seqs))
      found.push(...(await this.#placesIn(this.#listedRows(source, part, after), offset + limit, 0)))
    const direction = isDescending(this.#search.order) ? -1 : 1
    const inOrder = (a: Place, b: Place) => direction * (a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    return found.sort(inOrder).slice(offset, offset + limit)
  }

  async #listOf(seqs: SQL): Promise<number[]> {
    const [row] = await this.#db.select({ seqs: sql<string>`json_group_array(seq)` }).from(sql`(${seqs})`)
    return JSON.parse(row?.seqs ?? '[]')
  }

  async #countOf(rows: SQL): Promise<number> {
    const [row] = await this.#db.select({ size: sql<number>`count(*)` }).from(sql`(${rows})`)
    return row?.size ?? 0
  }
}

const placeColumns = sql`calls.seq as seq, calls.created_at as createdAt, calls.id as id, calls.document_chars as chars`

function placesFrom(json = '[]'): FoundPlace[] {
  const places: [number, number, string, number][] = JSON.parse(json)
  return places.map(([seq, createdAt, id, chars]) => ({ seq, createdAt, id, chars }))
}

interface Page {
  limit: number
  offset: number
  after: Place | undefined
}

/** Where to read calls. */
interface Source {
  /** Those of the list to read; null if calls are looked through in the order of time. */
  seqs: readonly number[] | null
  /** The page that was asked for first, if it was read with the list. */
  places?: FoundPlace[]
  /** What remains to be checked. */
  checks: readonly SQL[]
  /** Words that remain to be checked. */
  words: SoughtWords | undefined
  /** How many calls match, or that there are more than this, if it is known. */
  count?: number
  isMoreThan?: number
}

interface RankedList {
  at: number
  list: CallList | { kind: 'words'; sought: SoughtWords }
  /** Whether it has other calls than those that meet the condition. */
  isWider: boolean
}

function completedIn({ from, to }: Period): CallList {
  const where = sql`calls.completed_at >= ${from} and calls.completed_at < ${to}`
  return { kind: 'rows', index: 'calls_by_completed_at', where }
}

function* chunksOf(seqs: readonly number[]): Generator<readonly number[]> {
  for (let at = 0; at < seqs.length; at += listedAtOnce) yield seqs.slice(at, at + listedAtOnce)
}

function isOf(projectId: number): SQL {
  return sql`calls.project_id = ${projectId}`
}

function all(checks: readonly SQL[]): SQL {
  return checks.length === 0 ? sql`true` : sql.join([...checks], sql` and `)
}

/** When calls were completed that meet all conditions, if that is bounded. */
function periodOf(conditions: readonly Condition[]): Period | undefined {
  const bounds = conditions.flatMap(({ completed }) => completed ?? [])
  if (bounds.length === 0) return undefined
  return {
    from: Math.max(0, ...bounds.map(({ from = 0 }) => from)),
    to: Math.min(untilNow, ...bounds.map(({ to = untilNow }) => to)),
  }
}

/** By the search and the state of the project. */
const keptCounts = preparedQueries((_) => new LRUCache<string, number>({ max: countsKept }))

async function readState(db: ReadDatabase, projectId: number) {
  const columns = { calls: projects.calls, changeSeq: projects.changeSeq }
  const [row] = await db.select(columns).from(projects).where(eq(projects.id, projectId))
  return row ?? { calls: 0, changeSeq: 0 }
}
