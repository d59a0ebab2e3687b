import { and, eq, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import type { RecordHash } from '../../db/record-hash.ts'
import { callDetails, callDocuments, calls } from '../../db/schema.ts'
import { preparedQueries } from '../../db/store.ts'
import { type StoredCall, unservedColumns } from '../call-head.ts'
import { storedDetails, storedDetailsBytes } from '../details.ts'
import { servedDocument } from '../document.ts'

const queries = preparedQueries((db) => ({
  charsByIds: db
    .select({ id: sql<string>`calls.id`, chars: sql<number>`document_chars + ${storedDetailsBytes}` })
    .from(sql`json_each(${sql.placeholder('ids')}) wanted
      cross join calls on calls.project_id = ${sql.placeholder('projectId')} and calls.id = wanted.value`)
    .prepare(),
  byIds: db
    .select({
      ...unservedColumns,
      id: calls.id,
      changeSeq: calls.changeSeq,
      hasParts: callDocuments.hasParts,
      document: servedDocument,
      details: storedDetails,
      metadata: callDetails.metadata,
      redactions: callDetails.redactions,
      analysis: callDetails.analysis,
    })
    .from(sql`json_each(${sql.placeholder('ids')}) wanted`)
    .crossJoin(calls)
    .innerJoin(callDocuments, eq(callDocuments.seq, calls.seq))
    .leftJoin(callDetails, eq(callDetails.seq, calls.seq))
    .where(and(eq(calls.projectId, sql.placeholder('projectId')), sql`${calls.id} = wanted.value`))
    .prepare(),
  deleted: db
    .select({ id: sql<string>`wanted.value ->> 0` })
    .from(sql`json_each(${sql.placeholder('hashed')}) wanted cross join erasures
      on erasures.project_id = ${sql.placeholder('projectId')} and erasures.kind = 'call'
      and erasures.id_hash = wanted.value ->> 1`)
    .prepare(),
}))

/** The characters of each stored call's document and details. */
export async function readCallChars(
  db: ReadDatabase,
  projectId: number,
  ids: Iterable<string>,
): Promise<Map<string, number>> {
  const rows = await queries(db).charsByIds.all({ projectId, ids: toJson(ids) })
  return new Map(rows.map(({ id, chars }) => [id, chars]))
}

/** Stored calls, each with its last change number and whether it is in parts. */
export async function readStoredCalls(
  db: ReadDatabase,
  projectId: number,
  ids: readonly string[],
): Promise<Map<string, { stored: StoredCall; changeSeq: number; hasParts: boolean }>> {
  if (ids.length === 0) return new Map()
  const rows = await queries(db).byIds.all({ projectId, ids: toJson(ids) })
  return new Map(
    rows.map(({ id, changeSeq, hasParts, ...row }) => [
      id,
      { changeSeq, hasParts, stored: { ...row, call: JSON.parse(row.document) } },
    ]),
  )
}

/** Which of the ids belong to deleted calls. */
export async function readDeletedCalls(
  db: ReadDatabase,
  projectId: number,
  ids: readonly string[],
  recordHash: RecordHash,
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const hashed = JSON.stringify(ids.map((id) => [id, recordHash(projectId, 'call', id)]))
  const rows = await queries(db).deleted.all({ projectId, hashed })
  return new Set(rows.map(({ id }) => id))
}

function toJson(values: Iterable<string>): string {
  return JSON.stringify([...new Set(values)])
}
