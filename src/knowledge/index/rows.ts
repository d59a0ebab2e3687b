import { and, asc, eq, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { chunks, meta, projects } from '../../db/schema.ts'

export interface VectorRow {
  label: number
  vector: Float32Array
}

/** The rows an index is a view of: the chunks of one embedding space. Each method is one query. */
export class VectorRows {
  readonly #queries: ReturnType<typeof prepare>
  readonly #space: string

  constructor(db: ReadDatabase, space: string) {
    this.#queries = prepare(db)
    this.#space = space
  }

  /** Changes when the database is restored from a backup: files of another generation mean nothing. */
  async generation(): Promise<string> {
    const row = await this.#queries.generation.get()
    return row?.value ?? ''
  }

  /** Null when the project is gone. Read it before the labels, so that it never claims more than they hold. */
  async knowledgeVersion(projectId: number): Promise<number | null> {
    const row = await this.#queries.knowledgeVersion.get({ projectId })
    return row?.knowledgeVersion ?? null
  }

  /** Every label of the project, ascending. */
  async labels(projectId: number): Promise<number[]> {
    const row = await this.#queries.labels.get({ projectId, space: this.#space })
    return JSON.parse(row?.labels ?? '[]').sort(ascending)
  }

  async count(projectId: number): Promise<number> {
    const row = await this.#queries.count.get({ projectId, space: this.#space })
    return row?.count ?? 0
  }

  /** Length of the project's vectors; null when there is none. */
  async dimensions(projectId: number): Promise<number | null> {
    const row = await this.#queries.dimensions.get({ projectId, space: this.#space })
    return row ? row.bytes / Float32Array.BYTES_PER_ELEMENT : null
  }

  /** The vectors of those of `labels` that have one. */
  async vectors(projectId: number, labels: readonly number[]): Promise<VectorRow[]> {
    const rows = await this.#queries.vectors.all({
      projectId,
      space: this.#space,
      labels: JSON.stringify(labels),
    })
    return rows.flatMap(({ label, embedding }) => (embedding ? [{ label, vector: toVector(embedding) }] : []))
  }
}

function prepare(db: ReadDatabase) {
  const ofSpace = and(
    eq(chunks.projectId, sql.placeholder('projectId')),
    eq(chunks.embeddingSpace, sql.placeholder('space')),
  )
  return {
    generation: db.select({ value: meta.value }).from(meta).where(eq(meta.name, 'generation')).prepare(),
    knowledgeVersion: db
      .select({ knowledgeVersion: projects.knowledgeVersion })
      .from(projects)
      .where(eq(projects.id, sql.placeholder('projectId')))
      .prepare(),
    labels: db
      .select({ labels: sql<string>`json_group_array(${chunks.label})` })
      .from(chunks)
      .where(ofSpace)
      .prepare(),
    count: db.select({ count: sql<number>`count(*)` }).from(chunks).where(ofSpace).prepare(),
    dimensions: db
      .select({ bytes: sql<number>`length(${chunks.embedding})` })
      .from(chunks)
      .where(ofSpace)
      .orderBy(asc(chunks.label))
      .limit(1)
      .prepare(),
    vectors: db
      .select({ label: chunks.label, embedding: chunks.embedding })
      .from(chunks)
      .where(
        and(
          sql`${chunks.label} in (select value from json_each(${sql.placeholder('labels')}))`,
          // Unary plus: the labels are the way in, not the whole of the project's space.
          sql`+${chunks.projectId} = ${sql.placeholder('projectId')}`,
          sql`+${chunks.embeddingSpace} = ${sql.placeholder('space')}`,
        ),
      )
      .prepare(),
  }
}

/** A copy: a Buffer may start anywhere, a Float32Array only at a multiple of four. */
function toVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer, 0, Math.floor(bytes.byteLength / 4))
}

function ascending(a: number, b: number): number {
  return a - b
}
