import { and, eq, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { callDocuments, callMetadata, calls } from '../db/schema.ts'
import { preparedQueries } from '../db/store.ts'
import { type StoredCall, unservedColumns } from './call-head.ts'
import { readAtOnceCharsMax } from './document.ts'

/** A call as it was read, and the number of its last change. */
export interface ReadCall {
  stored: StoredCall
  changeSeq: number
}

const queries = preparedQueries((db) => ({
  longByIds: db
    .select({ id: sql<string>`calls.id`, chars: sql<number>`document_chars` })
    .from(sql`json_each(${sql.placeholder('ids')}) wanted
      cross join calls on calls.project_id = ${sql.placeholder('projectId')} and calls.id = wanted.value`)
    .where(sql`document_chars > ${sql.raw(`${readAtOnceCharsMax}`)}`)
    .prepare(),
  byIds: db
    .select({
      ...unservedColumns,
      id: calls.id,
      changeSeq: calls.changeSeq,
      document: callDocuments.document,
      metadata: callMetadata.metadata,
    })
    .from(sql`json_each(${sql.placeholder('ids')}) wanted`)
    .crossJoin(calls)
    .innerJoin(callDocuments, eq(callDocuments.seq, calls.seq))
    .leftJoin(callMetadata, eq(callMetadata.seq, calls.seq))
    .where(and(eq(calls.projectId, sql.placeholder('projectId')), sql`${calls.id} = wanted.value`))
    .prepare(),
  deletedHashes: db
    .select({ hash: sql<string>`erasures.id_hash` })
    .from(sql`json_each(${sql.placeholder('hashes')}) wanted cross join erasures
      on erasures.project_id = ${sql.placeholder('projectId')} and erasures.kind = 'call'
      and erasures.id_hash = wanted.value`)
    .prepare(),
}))

/** How many characters each call has that is too long to be read at once. */
export async function readLongCalls(
  db: ReadDatabase,
  projectId: number,
  ids: Iterable<string>,
): Promise<Map<string, number>> {
  const rows = await queries(db).longByIds.all({ projectId, ids: toJson(ids) })
  return new Map(rows.map(({ id, chars }) => [id, chars]))
}

export async function readStoredCalls(
  db: ReadDatabase,
  projectId: number,
  ids: Iterable<string>,
): Promise<Map<string, ReadCall>> {
  const rows = await queries(db).byIds.all({ projectId, ids: toJson(ids) })
  return new Map(
    rows.map(({ id, changeSeq, ...row }) => [
      id,
      { changeSeq, stored: { ...row, call: JSON.parse(row.document) } },
    ]),
  )
}

/** Which of the hashes are those of deleted calls. */
export async function readDeletedCalls(
  db: ReadDatabase,
  projectId: number,
  hashes: Iterable<string>,
): Promise<string[]> {
  const rows = await queries(db).deletedHashes.all({ projectId, hashes: toJson(hashes) })
  return rows.map(({ hash }) => hash)
}

function toJson(values: Iterable<string>): string {
  return JSON.stringify([...new Set(values)])
}
