import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'

/** How many agents of one call it can be found by beside its own. Bounded, so that no write is slow. */
const otherAgentsMax = 50
/** Enough for the members that details begin with: the platform, and the agent's id and name. */
const startChars = 1_500
const text = '(?:[^"\\\\]|\\\\u.{4}|\\\\[^u])*'
/** Within a text, quotation marks are escaped, so that this is always a key. */
const timelineAgent = new RegExp(`"agentId":"(${text})"`, 'gs')
const agentForm = new RegExp(
  `^\\{"source":(?:null|"${text}"),"agent":\\{"id":"${text}","name":"(${text})"`,
  's',
)

/** The start of the details of a row of `calls`; null if it has none. */
export const detailsStart: SQL<string | null> = sql`
  (select substr(details, 1, ${sql.raw(`${startChars}`)}) from call_details where call_details.seq = calls.seq)`

/** The agent's name from the start of details; null if it has none. */
export function readAgentName(start: string | null): string | null {
  const name = start === null ? undefined : agentForm.exec(start)?.[1]
  return name ? JSON.parse(`"${name}"`) : null
}

/** The agents in a timeline, without the call's own, from the text of details: parsing it takes long. */
export function otherAgentsIn(details: string | null, own: string | null): string[] {
  const agents = new Set<string>()
  for (const [, id = ''] of details?.matchAll(timelineAgent) ?? []) {
    agents.add(JSON.parse(`"${id}"`))
    if (agents.size > otherAgentsMax) break
  }
  return [...agents].filter((id) => id !== own).slice(0, otherAgentsMax)
}

/** The names of agents in their newest calls, by id. Agents without names are left out. @param newest their row numbers */
export async function readAgentNames(
  db: ReadDatabase,
  newest: readonly (readonly [agentId: string, seq: number])[],
): Promise<Map<string, string>> {
  const rows = await db
    .select({
      id: sql<string>`wanted.value ->> 0`,
      start: sql<string | null>`substr(details, 1, ${sql.raw(`${startChars}`)})`,
    })
    .from(
      sql`json_each(${JSON.stringify(newest)}) as wanted cross join call_details on call_details.seq = wanted.value ->> 1`,
    )
  return new Map(
    rows.flatMap(({ id, start }) => {
      const name = readAgentName(start)
      return name ? [[id, name] as const] : []
    }),
  )
}
