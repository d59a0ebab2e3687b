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

/** The names of agents in their newest calls, by id. Agents without names are left out. */
export async function readAgentNames(
  db: ReadDatabase,
  projectId: number,
  agentIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db
    .select({
      id: sql<string>`wanted.value`,
      start: sql<
        string | null
      >`(select ${detailsStart} from calls where calls.seq = ${newestSeq(projectId)})`,
    })
    .from(sql`json_each(${JSON.stringify(agentIds)}) as wanted`)
  return new Map(
    rows.flatMap(({ id, start }) => {
      const name = readDetailsStart(start).agentName
      return name ? [[id, name] as const] : []
    }),
  )
}

/** The newest call of the agent that is `wanted`: of few calls in call_values, of many among all calls. */
function newestSeq(projectId: number): SQL {
  const value = sql`'["agentId",' || json_quote(wanted.value) || ']'`
  const among = sql`where project_id = ${projectId}`
  const newest = sql`order by created_at desc limit 1`
  return sql`case when exists (select 1 from call_counts ${among} and until = ${Number.MAX_SAFE_INTEGER}
      and name = 'agentId' and value = json_quote(wanted.value) and is_few)
    then (select seq from call_values ${among} and value = ${value} ${newest})
    else (select seq from calls indexed by calls_by_created_at ${among} and agent_id = wanted.value ${newest}) end`
}
