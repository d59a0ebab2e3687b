import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../../db/reader.ts'
import { chunks, meta, projects } from '../../../db/schema.ts'

export interface VectorRow {
  label: number
  vector: Float32Array
}

export interface VectorHit {
  label: number
  /** Cosine similarity: 1 is the same direction. */
  similarity: number
}

/** What the header of an index file must say for the file to be loaded. */
export interface ExpectedHeader {
  /** A restore of the database changes it: files of another generation are worthless. */
  generation: string
  space: string
  /** Null when the project has no vectors. */
  dimensions: number | null
}

/** The rows that an index is built from: the chunks of one embedding space. */
export class VectorRows {
  readonly #db: ReadDatabase
  readonly #queries: ReturnType<typeof prepare>
  readonly #space: string

  constructor(db: ReadDatabase, space: string) {
    this.#db = db
    this.#queries = prepare(db)
    this.#space = space
  }

  async header(projectId: number): Promise<ExpectedHeader> {
    const [row] = await this.#db.all<{ generation: string | null; bytes: number | null }>(sql`
      select (select value from ${meta} where name = 'generation') as generation, (
        select length(embedding) from ${chunks} where ${this.#areOf(projectId)} order by label limit 1) as bytes`)
    const dimensions = row?.bytes ? row.bytes / Float32Array.BYTES_PER_ELEMENT : null
    return { generation: row?.generation ?? '', space: this.#space, dimensions }
  }

  /**
   * The project's knowledge version and number of vectors; null if the project is deleted. Read it before the labels,
   * which are then at least as new.
   */
  async summary(projectId: number): Promise<{ version: number; vectors: number } | null> {
    const [summary] = await this.#db.all<{ version: number; vectors: number }>(sql`
      select knowledge_version as version, (select count(*) from ${chunks} where ${this.#areOf(projectId)}) as vectors
      from ${projects} where id = ${projectId}`)
    return summary ?? null
  }

  /** The project's knowledge version, which every change of its vectors increases. */
  async version(projectId: number): Promise<number> {
    return (await this.#queries.version.get({ projectId }))?.version ?? 0
  }

  async hasMoreThan(projectId: number, vectors: number): Promise<boolean> {
    return (await this.#queries.beyond.get({ projectId, space: this.#space, vectors })) !== undefined
  }

  /** Every label of the project, ascending. */
  async labels(projectId: number): Promise<number[]> {
    const [row] = await this.#db.all<{ labels: string }>(sql`
      select json_group_array(label) as labels from ${chunks} where ${this.#areOf(projectId)}`)
    return JSON.parse(row?.labels ?? '[]').sort((a: number, b: number) => a - b)
  }

  /** The vectors of these labels, as far as they have one. */
  async vectors(projectId: number, labels: readonly number[]): Promise<VectorRow[]> {
    const values = { projectId, space: this.#space, labels: JSON.stringify(labels) }
    const rows = await this.#queries.vectors.all(values)
    return rows.flatMap(({ label, embedding }) => (embedding ? [{ label, vector: toVector(embedding) }] : []))
  }

  /**
   * The nearest vectors, best first, by comparing each one with libSQL's distance function. Exact, but slow for many.
   * @param labels the only ones to compare; all of the project by default
   */
  async nearest(
    projectId: number,
    query: Float32Array,
    limit: number,
    labels?: readonly number[],
  ): Promise<VectorHit[]> {
    const blob = Buffer.from(query.buffer, query.byteOffset, query.byteLength)
    const values = { projectId, space: this.#space, query: blob, bytes: query.byteLength, limit }
    const rows = labels
      ? await this.#queries.nearestOfLabels.all({ ...values, labels: JSON.stringify(labels) })
      : await this.#queries.nearest.all(values)
    return rows.map(({ label, distance }) => ({ label, similarity: 1 - distance }))
  }

  #areOf(projectId: number): SQL {
    return sql`project_id = ${projectId} and embedding_space = ${this.#space}`
  }
}

/** What searches ask, and what is asked for each vector. */
function prepare(db: ReadDatabase) {
  const projectId = sql.placeholder('projectId')
  const space = sql.placeholder('space')
  const ofSpace = sql`${chunks.projectId} = ${projectId} and ${chunks.embeddingSpace} = ${space}`
  // The unary plus makes SQLite look up the labels instead of scanning the project's rows.
  const ofLabels = sql`${chunks.label} in (select value from json_each(${sql.placeholder('labels')}))
    and +${chunks.projectId} = ${projectId} and +${chunks.embeddingSpace} = ${space}`
  const distance = sql<number>`vector_distance_cos(${chunks.embedding}, ${sql.placeholder('query')})`
  // Comparing a vector of another length would fail the whole query.
  const isComparable = sql`length(${chunks.embedding}) = ${sql.placeholder('bytes')}`
  const nearest = (condition: SQL) =>
    db
      .select({ label: chunks.label, distance: distance.as('distance') })
      .from(chunks)
      .where(and(condition, isComparable))
      .orderBy(sql`distance`, chunks.label)
      .limit(sql.placeholder('limit'))
      .prepare()
  return {
    beyond: db
      .select({ isThere: sql<number>`1` })
      .from(chunks)
      .where(ofSpace)
      .limit(1)
      .offset(sql.placeholder('vectors'))
      .prepare(),
    version: db
      .select({ version: projects.knowledgeVersion })
      .from(projects)
      .where(eq(projects.id, projectId))
      .prepare(),
    vectors: db
      .select({ label: chunks.label, embedding: chunks.embedding })
      .from(chunks)
      .where(ofLabels)
      .prepare(),
    nearest: nearest(ofSpace),
    nearestOfLabels: nearest(ofLabels),
  }
}

/** A copy: a Buffer may start anywhere, a Float32Array only at a multiple of four. */
function toVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer, 0, Math.floor(bytes.byteLength / 4))
}
