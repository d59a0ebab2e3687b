import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { eq, inArray, sql } from 'drizzle-orm'
import { inIndex } from '../../../../scripts/torture/vectors.ts'
import { type OpenDatabase, openDatabase } from '../../../../src/db/open.ts'
import { chunks, knowledgeItems, projects } from '../../../../src/db/schema.ts'
import type { IndexLog } from '../../../../src/knowledge/indexing/index/project-index.ts'
import type { VectorHit } from '../../../../src/knowledge/indexing/index/rows.ts'
import { openVectorIndex, type VectorIndex } from '../../../../src/knowledge/indexing/index/vector-index.ts'
import { freshFolder } from '../../../support/at-end.ts'

export const dimensions = 24
export const space = 'test/24'
const shortOfOne = 16_384

export interface Logged {
  level: Parameters<IndexLog>[0]
  message: string
  fields: Parameters<IndexLog>[2]
}

/** A database in a fresh folder with a project, and vector indexes over it. */
export class Knowledge {
  readonly folder = freshFolder()
  readonly databaseFile = join(this.folder, 'callbook.db')
  readonly indexFolder = join(this.folder, 'indexes')
  readonly log: Logged[] = []
  readonly random = seededRandom(1)
  readonly #indexes: VectorIndex[] = []
  #database: OpenDatabase | null = null
  #projects = 0

  static async open(): Promise<Knowledge> {
    const knowledge = new Knowledge()
    knowledge.#database = await openDatabase(knowledge.databaseFile)
    return knowledge
  }

  get database(): OpenDatabase {
    if (!this.#database) throw new Error('not open')
    return this.#database
  }

  openIndex(options: Partial<Parameters<typeof openVectorIndex>[0]> = {}): VectorIndex {
    const index = openVectorIndex({
      readsAt: { kind: 'file', file: this.databaseFile },
      folder: this.indexFolder,
      space,
      savesFiles: true,
      log: (level, message, fields) => this.log.push({ level, message, fields }),
      ...options,
    })
    this.#indexes.push(index)
    return index
  }

  file(project: Project): string {
    return join(this.indexFolder, `${project.id}.hnsw`)
  }

  async addProject(): Promise<Project> {
    const name = `project ${++this.#projects}`
    const [row] = await this.database.write
      .insert(projects)
      .values({ publicId: `prj_${name}`, name, createdAt: 0 })
      .returning({ id: projects.id })
    if (!row) throw new Error('no project')
    await this.database.write.insert(knowledgeItems).values({
      seq: row.id,
      projectId: row.id,
      id: name,
      name,
      description: '',
      text: '',
      textHash: '',
      updatedAt: 0,
      changeSeq: 0,
      createdAt: 0,
    })
    return new Project(row.id, this.database, this.random)
  }

  async close(): Promise<void> {
    for (const index of this.#indexes) await index.close()
    await this.database.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A project's rows, and what they say a search must find. */
export class Project {
  readonly id: number
  readonly vectors = new Map<number, Float32Array>()
  readonly #database: OpenDatabase
  readonly #random: () => number

  constructor(id: number, database: OpenDatabase, random: () => number) {
    this.id = id
    this.#database = database
    this.#random = random
  }

  get labels(): number[] {
    return [...this.vectors.keys()]
  }

  /** Commits rows with vectors; says nothing to any index. */
  async insert(vectors: Float32Array[], embeddingSpace = space): Promise<number[]> {
    const labels: number[] = []
    for (let start = 0; start < vectors.length; start += 500) {
      const slice = vectors.slice(start, start + 500)
      const { rows } = await this.#database.write.batch({
        rows: this.#database.write
          .insert(chunks)
          .values(slice.map((vector) => this.#row(vector, embeddingSpace)))
          .returning({ label: chunks.label }),
        changed: this.#changed(),
      })
      for (const [position, { label }] of rows.entries()) {
        labels.push(label)
        const vector = slice[position]
        if (vector && embeddingSpace === space) this.vectors.set(label, vector)
      }
    }
    return labels
  }

  insertRandom(count: number): Promise<number[]> {
    return this.insert(Array.from({ length: count }, () => randomVector(this.#random)))
  }

  async delete(labels: number[]): Promise<void> {
    await this.#database.write.batch({
      deleted: this.#database.write.delete(chunks).where(inArray(chunks.label, labels)),
      changed: this.#changed(),
    })
    for (const label of labels) this.vectors.delete(label)
  }

  async deleteItself(): Promise<void> {
    await this.#database.write.delete(projects).where(eq(projects.id, this.id))
  }

  /** The labels of the nearest rows, best first, by brute force. */
  nearest(query: Float32Array, limit: number, among = this.labels): number[] {
    const scored = among.flatMap((label) => {
      const vector = this.vectors.get(label)
      return vector ? [{ label, similarity: dot(query, vector) }] : []
    })
    scored.sort((a, b) => b.similarity - a.similarity)
    return scored.slice(0, limit).map(({ label }) => label)
  }

  #row(vector: Float32Array, embeddingSpace: string) {
    return {
      projectId: this.id,
      itemSeq: this.id,
      position: 0,
      text: 'text',
      overlapChars: 0,
      segment: 0,
      wordCount: 0,
      textHash: '',
      embedding: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
      embeddingSpace,
    }
  }

  #changed() {
    return this.#database.write
      .update(projects)
      .set({ knowledgeVersion: sql`${projects.knowledgeVersion} + 1` })
      .where(eq(projects.id, this.id))
  }
}

export function labelsOf(hits: VectorHit[]): number[] {
  return hits.map((hit) => hit.label)
}

/** Nearly of unit length, of numbers that an index holds exactly. */
export function randomVector(random: () => number, length = dimensions): Float32Array {
  const vector = Float32Array.from({ length }, () => random() - 0.5)
  const norm = Math.sqrt(dot(vector, vector))
  return vector.map((value) => Math.round((value / norm) * shortOfOne) / shortOfOne)
}

/** What an index file has of a vector: see scripts/short-space.h. */
export function bytesOf(vector: Float32Array): Buffer {
  return inIndex(Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength))
}

/** Mulberry32: the same vectors in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, position) => sum + value * (b[position] ?? 0), 0)
}
