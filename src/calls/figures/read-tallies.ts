import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallSearch } from '../finding/call-query.ts'
import { isUnder } from '../finding/call-values.ts'
import { allTime, countsByQuarter, countsOfQuarters, quarterMs } from '../finding/counts.ts'
import type { FoundPages } from '../finding/found-pages.ts'
import type { FiguresRequest } from './figures-request.ts'
import type { KnownNumbers } from './known-numbers.ts'
import { sumOf, type Tally, type TallyRow, tallyColumns, toTally } from './tally.ts'
import type { NamedPeriod } from './time-groups.ts'

/** How many different names are read, of which the most frequent are shown: to sort more would delay others. */
const namesMax = 50_000

/** By what the query names a group. */
export type Tallies = Map<string | number | null, Tally>

export interface Reading extends FiguresRequest {
  db: ReadDatabase
  projectId: number
  pages: FoundPages
  known: KnownNumbers
}

/** Rows of call_counts by their names, or when the groups are, each of which begins and ends with a quarter of an hour. */
type Counted = { rows: SQL; name: SQL } | { periods: readonly NamedPeriod[] }

type NamedRow = TallyRow & { name: string | number | null }

/** The one group of each call. */
export interface Naming {
  /** Its name, of a row of `calls`; undefined if all calls are one group, which null names. */
  name?: SQL
  /** How the same groups are counted. */
  counted?: Counted | undefined
  /** The same names, of a quarter of an hour that starts then; undefined if a group may end within one. */
  ofQuarter?: ((start: number) => number | null) | undefined
}

/** The groups of the calls that a search finds, each call in one of them. */
export async function readTallies(reading: Reading, { name, counted, ofQuarter }: Naming): Promise<Tallies> {
  const { db, search, measure, pages, show } = reading
  const tallies: Tallies = new Map()
  const evaluations = measure.isCounted ? evaluationsIn(search) : undefined
  if (counted && evaluations) return add(tallies, await readCounted(reading, counted, evaluations))
  const known = ofQuarter && (await readKnown(reading, ofQuarter))
  if (known) return known
  const columns = { name: sql<string | number | null>`name`, ...tallyColumns(show) }
  for await (const slice of pages.slices(sql`${name ?? sql`null`} as name, ${measure.number} as number`)) {
    const tallied = db.select(columns).from(sql`(${slice})`)
    // Even by null, SQLite would sort the calls.
    add(tallies, await (name ? tallied.groupBy(sql`name`) : tallied))
  }
  return tallies
}

/** The groups that have calls with these evaluations. */
async function readCounted(
  { db, projectId, show }: Reading,
  counted: Counted,
  evaluations: readonly string[],
): Promise<NamedRow[]> {
  const sumsIn = (read: (sum: SQL) => SQL) => {
    const sumOfThose = (isAmong: (evaluation: string) => boolean) =>
      sql<number>`${read(sql.raw(`sum(${evaluations.filter(isAmong).join(' + ') || '0'})`))}`
    const isShare = show === 'share'
    return {
      calls: sumOfThose(() => true),
      numbers: isShare ? sumOfThose((each) => each === 'success' || each === 'fail') : sql<number>`0`,
      sum: isShare ? sumOfThose((each) => each === 'success') : sql<number>`0`,
    }
  }
  const withOther = (rows: SQL) =>
    sql`(select *, calls - success - fail - unevaluated as other from (${rows}))`
  const grouped = async (rows: SQL, name: SQL) => {
    const columns = { name: sql<string | number | null>`${name} as name`, ...sumsIn((sum) => sum) }
    const groups = db.select(columns).from(withOther(rows)).groupBy(sql`name`)
    return await groups.having(sql`${columns.calls} > 0`)
  }
  if ('rows' in counted) return await grouped(counted.rows, counted.name)
  // A sum for each period is found four times as soon as groups of all rows, which SQLite would sort.
  const [wholes, edges] = quartersOf(counted.periods)
  const columns = {
    name: sql<number | null>`period.value ->> 0`,
    ...sumsIn(
      (sum) => sql`(select ${sum} from ${withOther(countsOfQuarters(projectId))}
        where until > period.value ->> 1 and until <= period.value ->> 2)`,
    ),
  }
  const rows = await db.select(columns).from(sql`json_each(${JSON.stringify(wholes)}) as period`)
  const found: NamedRow[] = rows.filter(({ calls }) => calls > 0)
  for (const [name, from, to] of edges)
    found.push(...(await grouped(countsByQuarter(projectId, { from, to }), sql`${name}`)))
  return found
}

/** The whole quarters of an hour of each period, and what lies before and after them. */
function quartersOf(periods: readonly NamedPeriod[]): [wholes: NamedPeriod[], edges: NamedPeriod[]] {
  const [wholes, edges]: [NamedPeriod[], NamedPeriod[]] = [[], []]
  for (const [name, from, to] of periods) {
    const first = Math.min(Math.ceil(from / quarterMs) * quarterMs, to)
    const last = Math.max(Math.floor(to / quarterMs) * quarterMs, first)
    wholes.push([name, first, last])
    if (from < first) edges.push([name, from, first])
    if (last < to) edges.push([name, last, to])
  }
  return [wholes, edges]
}

/** Of all calls of whole quarters of an hour; null for any others. */
async function readKnown(
  { db, projectId, of, measure, search, known }: Reading,
  ofQuarter: (start: number) => number | null,
): Promise<Tallies | null> {
  const { conditions, words, from = allTime.from, to = allTime.to } = search
  if (conditions.length > 0 || words || from % quarterMs !== 0 || to % quarterMs !== 0) return null
  return await known.tallies({ db, projectId, of, number: measure.number }, { from, to }, ofQuarter)
}

/** Of JSON, what call_counts counts. */
const countedEvaluations = new Map([
  ['"success"', 'success'],
  ['"fail"', 'fail'],
  ['null', 'unevaluated'],
])

/** The evaluations of all calls that a search finds, if it finds all with these; undefined if other filters matter. */
function evaluationsIn({ conditions, words }: CallSearch): readonly string[] | undefined {
  if (words) return undefined
  const [first, ...others] = conditions
  if (!first) return [...countedEvaluations.values(), 'other']
  if (first.counted?.name !== 'evaluation' || others.length > 0) return undefined
  const evaluations = first.counted.values.flatMap((value) => countedEvaluations.get(value) ?? [])
  return evaluations.length === first.counted.values.length ? evaluations : undefined
}

/** The groups of the values in call_values under a name, of which a call may have several. */
export async function readTalliesUnder(reading: Reading, valueName: string): Promise<Tallies> {
  const { db, projectId, measure, pages, show } = reading
  const tallies: Tallies = new Map()
  const [first] = await db
    .select({ value: sql<string>`value` })
    .from(sql`call_values`)
    .where(sql`project_id = ${projectId} and ${isUnder(sql`value`, valueName)}`)
    .limit(1)
  if (!first) return tallies
  const columns = { name: sql<string>`entry.value`, ...tallyColumns(show) }
  // As the list has it, within quotation marks. Most calls have no such entry, and this is found sooner.
  const start = JSON.stringify(`${JSON.stringify([valueName]).slice(0, -1)},`).slice(0, -1)
  const list = sql`case when instr(calls.value_list, ${start}) > 0 then calls.value_list end as list`
  for await (const slice of pages.slices(sql`${list}, ${measure.number} as number`)) {
    const entries = sql`(${slice}) as found cross join json_each(list) as entry`
    const under = isUnder(sql`entry.value`, valueName)
    add(tallies, await db.select(columns).from(entries).where(under).groupBy(sql`entry.value`))
  }
  return tallies
}

/** @throws invalid_request if there are too many names */
function add(tallies: Tallies, rows: readonly NamedRow[]): Tallies {
  for (const { name, ...row } of rows) {
    const [tally, before] = [toTally(row), tallies.get(name)]
    tallies.set(name, before ? sumOf(before, tally) : tally)
  }
  if (tallies.size <= namesMax) return tallies
  throw invalidRequest([{ field: 'by', message: `has more than ${namesMax} different values` }])
}
