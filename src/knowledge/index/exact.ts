import { and, eq, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { chunks } from '../../db/schema.ts'
import type { VectorHit } from './vector-index.ts'

export interface ExactQuery {
  projectId: number
  space: string
  query: Float32Array
  limit: number
  /** Only these; every vector of the project when left out. */
  labels?: readonly number[] | undefined
}

export type ExactSearch = (query: ExactQuery) => Promise<VectorHit[]>

/** Search by comparing with every row, with libSQL's own distance: needs no index and is never wrong. */
export function exactSearch(db: ReadDatabase): ExactSearch {
  const queries = prepare(db)
  return async ({ labels, query, ...condition }) => {
    const values = { ...condition, query: toBlob(query), bytes: query.byteLength }
    const rows = labels
      ? await queries.ofLabels.all({ ...values, labels: JSON.stringify(labels) })
      : await queries.ofProject.all(values)
    return rows.map(({ label, distance }) => ({ label, similarity: 1 - distance }))
  }
}

function prepare(db: ReadDatabase) {
  const distance = sql<number>`vector_distance_cos(${chunks.embedding}, ${sql.placeholder('query')})`
  // A vector of another length would fail the whole query, and cannot be compared anyway.
  const isComparable = sql`length(${chunks.embedding}) = ${sql.placeholder('bytes')}`
  const columns = { label: chunks.label, distance: distance.as('distance') }
  const limit = sql.placeholder('limit')
  return {
    ofProject: db
      .select(columns)
      .from(chunks)
      .where(
        and(
          eq(chunks.projectId, sql.placeholder('projectId')),
          eq(chunks.embeddingSpace, sql.placeholder('space')),
          isComparable,
        ),
      )
      .orderBy(sql`distance`, chunks.label)
      .limit(limit)
      .prepare(),
    ofLabels: db
      .select(columns)
      .from(chunks)
      .where(
        and(
          sql`${chunks.label} in (select value from json_each(${sql.placeholder('labels')}))`,
          sql`+${chunks.projectId} = ${sql.placeholder('projectId')}`,
          sql`+${chunks.embeddingSpace} = ${sql.placeholder('space')}`,
          isComparable,
        ),
      )
      .orderBy(sql`distance`, chunks.label)
      .limit(limit)
      .prepare(),
  }
}

function toBlob(vector: Float32Array): Uint8Array {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
}
