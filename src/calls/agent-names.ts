import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'

/** Enough for the members that details begin with: the platform, and the agent's id and name. */
const startChars = 1_500
const text = '(?:[^"\\\\]|\\\\u.{4}|\\\\[^u])*'
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

/** The names of agents in their newest calls, by id. Agents without names are left out. */
export async function readAgentNames(
  db: ReadDatabase,
  projectId: number,
  agentIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db
    .select({
      id: sql<string>`wanted.value`,
      start: sql<string | null>`(select ${detailsStart} from calls where calls.project_id = ${projectId}
        and calls.agent_id = wanted.value order by calls.created_at desc, calls.id desc limit 1)`,
    })
    .from(sql`json_each(${JSON.stringify(agentIds)}) as wanted`)
  return new Map(
    rows.flatMap(({ id, start }) => {
      const name = readAgentName(start)
      return name ? [[id, name] as const] : []
    }),
  )
}
