import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'

// Of two indexes that would do, SQLite takes the other by itself, which has every chunk of every project in it.
const pending: SQL = sql`from chunks indexed by chunks_pending where embedding_space is null
  and project_id not in (select id from projects where deleted_at is not null)`

/** Projects with chunks to embed. */
export async function readPendingProjects(read: ReadDatabase): Promise<number[]> {
  const rows = await read.all<{ id: number }>(sql`select distinct project_id as id ${pending}`)
  return rows.map(({ id }) => id)
}

/** Chunks to embed, of all projects together. */
export async function countPending(read: ReadDatabase): Promise<number> {
  const [row] = await read.all<{ n: number }>(sql`select count(*) as n ${pending}`)
  return row?.n ?? 0
}
