import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { invalidRequest } from '../../errors.ts'
import { isUnder } from '../finding/call-values.ts'
import type { FoundPages } from '../finding/found-pages.ts'
import type { FiguresRequest } from './figures-request.ts'
import { sumOf, type Tally, type TallyRow, tallyColumns, toTally } from './tally.ts'

/** How many different names are read, of which the most frequent are shown: to sort more would delay others. */
const namesMax = 50_000

/** By what the query names a group. */
export type Tallies = Map<string | number | null, Tally>

export interface Reading extends FiguresRequest {
  db: ReadDatabase
  projectId: number
  pages: FoundPages
}

type NamedRow = TallyRow & { name: string | number | null }

/**
 * The groups of the calls that a search finds, each call in one of them.
 * @param name of a row of `calls`; undefined if all calls are one group, which null names
 */
export async function readTallies(reading: Reading, name?: SQL): Promise<Tallies> {
  const { db, measure, pages, show } = reading
  const tallies: Tallies = new Map()
  const columns = { name: sql<string | number | null>`name`, ...tallyColumns(show) }
  for await (const slice of pages.slices(sql`${name ?? sql`null`} as name, ${measure.number} as number`)) {
    const tallied = db.select(columns).from(sql`(${slice})`)
    // Even by null, SQLite would sort the calls.
    add(tallies, await (name ? tallied.groupBy(sql`name`) : tallied))
  }
  return tallies
}

/** The groups of the values under a name, of which a call may have several. */
export async function readTalliesUnder(reading: Reading, valueName: string): Promise<Tallies> {
  const { db, measure, pages, show } = reading
  const tallies: Tallies = new Map()
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
