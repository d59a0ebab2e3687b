import { asc, desc, isNull, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { projects } from '../../db/schema.ts'

/** Only the projects with the most calls are measured. */
const projectsMax = 200
/** Rows are counted up to here. */
const countedMax = 100_000
/** The newest records of each kind, from whose average the bytes of all follow. */
const sampledMax = 200

/** How much a project holds. */
export interface ProjectSize {
  id: string
  name: string
  calls: number
  /** Up to `countedMax`, then there are more. The next two likewise. */
  items: number
  chunks: number
  recordings: number
  /** Calls and knowledge, estimated from the newest ones. */
  textBytes: number
  recordingBytes: number
}

/** The sizes of projects, the one with the most calls first. Its cost depends on how many projects there are. */
export async function readProjectSizes(read: ReadDatabase): Promise<ProjectSize[]> {
  const heads = await read
    .select({ seq: projects.id, id: projects.publicId, name: projects.name, calls: projects.calls })
    .from(projects)
    .where(isNull(projects.deletedAt))
    .orderBy(desc(projects.calls), asc(projects.id))
    .limit(projectsMax)
  const sizes: ProjectSize[] = []
  for (const { seq, ...head } of heads) {
    const [size = nothing] = await read.select(sizeColumns(seq)).from(sql`(select 1)`)
    const { callBytes, itemBytes, ...rest } = size
    const textBytes = Math.round(callBytes * head.calls + itemBytes * rest.items)
    sizes.push({ ...head, ...rest, textBytes })
  }
  return sizes
}

const nothing = { items: 0, chunks: 0, recordings: 0, recordingBytes: 0, callBytes: 0, itemBytes: 0 }

function sizeColumns(projectId: number) {
  const countOf = (table: string) =>
    sql<number>`(select count(*) from (
      select 1 from ${sql.raw(table)} where project_id = ${projectId} limit ${countedMax}))`
  return {
    items: countOf('knowledge_items'),
    chunks: countOf('chunks'),
    recordings: countOf('recordings'),
    recordingBytes: sql<number>`(select coalesce(sum(bytes), 0) from (
      select bytes from recordings where project_id = ${projectId} limit ${countedMax}))`,
    callBytes: sql<number>`(select coalesce(avg(octet_length(document)), 0) from call_documents where seq in (
      select seq from calls where project_id = ${projectId} order by created_at desc limit ${sampledMax}))`,
    itemBytes: sql<number>`(select coalesce(avg(bytes), 0) from (
      select octet_length(text) as bytes from knowledge_items where project_id = ${projectId}
      order by created_at desc limit ${sampledMax}))`,
  }
}
