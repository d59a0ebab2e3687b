import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'

/** How many agents of one call it can be found by beside its own. Bounded, so that no write is slow. */
const otherAgentsMax = 50
/** Enough for the members that details begin with: the platform, the agent and the direction. */
const startChars = 2_000
const text = '(?:[^"\\\\]|\\\\u.{4}|\\\\[^u])*'
/** Within a text, quotation marks are escaped, so that this is always a key. */
const timelineAgent = new RegExp(`"agentId":"(${text})"`, 'gs')
/** Version 1.0.0-rc.1 wrote no version of the agent. */
const startForm = new RegExp(
  `^\\{"source":(?:null|"${text}"),"agent":(?:null|\\{"id":"${text}","name":(?:null|"(?<agentName>${text})")` +
    `(?:,"version":(?:null|"(?<agentVersion>${text})"))?\\}),"direction":(?:null|"(?<direction>${text})")`,
  's',
)

/** The start of the details of a row of `calls`; null if it has none. */
export const detailsStart: SQL<string | null> = sql`
  (select substr(details, 1, ${sql.raw(`${startChars}`)}) from call_details where call_details.seq = calls.seq)`

/** The agent's name and version and the direction, from the start of details; null for what is not known. */
export function readDetailsStart(
  start: string | null,
): Record<'agentName' | 'agentVersion' | 'direction', string | null> {
  const found = start === null ? undefined : startForm.exec(start)?.groups
  const read = (name: string) => (found?.[name] ? JSON.parse(`"${found[name]}"`) : null)
  return { agentName: read('agentName'), agentVersion: read('agentVersion'), direction: read('direction') }
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
      const name = readDetailsStart(start).agentName
      return name ? [[id, name] as const] : []
    }),
  )
}
