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

/** Names are looked for in so many calls at once, which takes a few milliseconds, and in so many in all. */
const windowCalls = 4_000
const windowsMax = 25

/** The names of agents in their newest calls, by id: of agents of the newest 100,000 calls. Others have none. */
export async function readAgentNames(
  db: ReadDatabase,
  projectId: number,
  agentIds: readonly string[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const unseen = new Set(agentIds)
  let before: number | null = Number.MAX_SAFE_INTEGER
  for (let window = 0; window < windowsMax && unseen.size > 0 && before !== null; window++) {
    const rows: { id: string; start: string | null }[] = await db
      .select({
        id: sql<string>`newest.agent_id`,
        start: sql<string | null>`(select ${detailsStart} from calls where calls.seq = newest.seq)`,
      })
      .from(sql`(
        select agent_id, seq, max(created_at) from (
          select agent_id, seq, created_at from calls indexed by calls_by_created_at
          where project_id = ${projectId} and created_at < ${before} order by created_at desc limit ${windowCalls})
        where agent_id in (select value from json_each(${JSON.stringify([...unseen])})) group by agent_id) as newest`)
    for (const { id, start } of rows) {
      unseen.delete(id)
      const name = readAgentName(start)
      if (name) names.set(id, name)
    }
    const rest: { at: number | null }[] = await db.select({ at: sql<number | null>`at` }).from(sql`(
      select (select created_at from calls indexed by calls_by_created_at
        where project_id = ${projectId} and created_at < ${before} order by created_at desc limit 1 offset ${windowCalls - 1}) as at)`)
    before = rest[0]?.at ?? null
  }
  return names
}
