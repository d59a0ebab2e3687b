import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'

// Without `indexed by`, SQLite chooses another index, which contains every chunk of every project.
const pending: SQL = sql`from chunks indexed by chunks_pending where embedding_space is null
  and project_id not in (select id from projects where deleted_at is not null)`

/** Projects with pending chunks. */
export async function readPendingProjects(read: ReadDatabase): Promise<number[]> {
  const rows = await read.all<{ id: number }>(sql`select distinct project_id as id ${pending}`)
  return rows.map(({ id }) => id)
}

/** The number of pending chunks in all projects. */
export async function countPending(read: ReadDatabase): Promise<number> {
  const [row] = await read.all<{ n: number }>(sql`select count(*) as n ${pending}`)
  return row?.n ?? 0
}
