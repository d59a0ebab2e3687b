import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { chunks, knowledgeItems } from '../db/schema.ts'
import type { StoreOf } from '../db/store.ts'
import { codePoints } from '../text/code-points.ts'
import { type IndexStatus, indexStatus, type PendingChunks } from './index-status.ts'
import { placeOf, writeCursor } from './item-cursor.ts'
import { itemNotFound } from './knowledge.ts'
import type { ItemPageRequest } from './schemas.ts'

const pageLimitDefault = 20

/** An item without its text. Times are ISO 8601, UTC. */
export interface KnowledgeRow {
  id: string
  name: string
  description: string
  textBytes: number
  chunks: number
  status: IndexStatus
  createdAt: string
}

export interface ItemDetails extends KnowledgeRow {
  text: string
}

export interface KnowledgeRows {
  data: KnowledgeRow[]
  /** Null on the last page. */
  nextCursor: string | null
  total: number
}

export interface StoredChunk {
  position: number
  heading: string | null
  text: string
  characters: number
  overlapCharacters: number
  isEmbedded: boolean
}

interface ItemsRequest extends ItemPageRequest {
  /** Part of the name, without regard to the case of ASCII letters; empty or absent for all items. */
  name?: string | undefined
}

interface IndexedItemsOptions {
  store: StoreOf
  /** Milliseconds since 1970. */
  now: () => number
}

/** Raw SQL, since Drizzle omits the table from column names in a subquery. */
const chunkCount = sql<number>`(select count(*) from chunks where chunks.item_seq = knowledge_items.seq)`

const rowColumns = {
  seq: knowledgeItems.seq,
  id: knowledgeItems.id,
  name: knowledgeItems.name,
  description: knowledgeItems.description,
  createdAt: knowledgeItems.createdAt,
  textBytes: sql<number>`octet_length(${knowledgeItems.text})`,
  chunks: chunkCount.as('chunks'),
}

/** Items and chunks as the console shows them: with how far each is indexed. */
export class IndexedItems {
  readonly #options: IndexedItemsOptions

  constructor(options: IndexedItemsOptions) {
    this.#options = options
  }

  /** A page of items without their texts, newest first. */
  async list(
    projectId: number,
    { limit = pageLimitDefault, cursor, name }: ItemsRequest,
  ): Promise<KnowledgeRows> {
    const read = this.#read(projectId)
    const { createdAt, id } = placeOf(cursor)
    const isListed = and(eq(knowledgeItems.projectId, projectId), name ? isNamed(name) : undefined)
    // One more row shows whether there is a next page.
    const rows = await read
      .select(rowColumns)
      .from(knowledgeItems)
      .where(and(isListed, sql`(${knowledgeItems.createdAt}, ${knowledgeItems.id}) < (${createdAt}, ${id})`))
      .orderBy(desc(knowledgeItems.createdAt), desc(knowledgeItems.id))
      .limit(limit + 1)
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    const statusOf = await this.#statuses(projectId, shown)
    return {
      data: shown.map(({ seq, createdAt, ...row }) => ({
        ...row,
        status: statusOf(seq, row.chunks),
        createdAt: new Date(createdAt).toISOString(),
      })),
      nextCursor: last && rows.length > limit ? writeCursor(last) : null,
      total: await read.$count(knowledgeItems, isListed),
    }
  }

  async get(projectId: number, id: string): Promise<ItemDetails> {
    const [row] = await this.#read(projectId)
      .select({ ...rowColumns, text: knowledgeItems.text })
      .from(knowledgeItems)
      .where(isItem(projectId, id))
    if (!row) throw itemNotFound()
    const statusOf = await this.#statuses(projectId, [row])
    const { seq, createdAt, ...item } = row
    return { ...item, status: statusOf(seq, row.chunks), createdAt: new Date(createdAt).toISOString() }
  }

  /** The item's chunks in order. */
  async chunks(projectId: number, id: string): Promise<{ data: StoredChunk[] }> {
    const rows = await this.#read(projectId)
      .select({
        position: chunks.position,
        heading: chunks.heading,
        text: chunks.text,
        overlapChars: chunks.overlapChars,
        isEmbedded: sql<number>`${chunks.embeddingSpace} is not null`,
      })
      .from(knowledgeItems)
      .leftJoin(chunks, eq(chunks.itemSeq, knowledgeItems.seq))
      .where(isItem(projectId, id))
      .orderBy(asc(chunks.position))
    if (rows.length === 0) throw itemNotFound()
    return { data: rows.flatMap(toStoredChunk) }
  }

  /** A function that gives each item's status by its `seq`; two queries for any number of items. */
  async #statuses(
    projectId: number,
    items: readonly { seq: number }[],
  ): Promise<(seq: number, chunks: number) => IndexStatus> {
    const read = this.#read(projectId)
    const isPending = isNull(chunks.embeddingSpace)
    const [some] = await read
      .select({ label: chunks.label })
      .from(chunks)
      .where(and(eq(chunks.projectId, projectId), isPending))
      .limit(1)
    const left = new Map(some ? await readPending(read, items) : [])
    const now = this.#options.now()
    return (seq, count) => indexStatus(count, left.get(seq), now)
  }

  #read(projectId: number): ReadDatabase {
    return this.#options.store(projectId).readAside
  }
}

/** `%` and `_` stand for themselves. */
function isNamed(part: string) {
  return sql`${knowledgeItems.name} like ${`%${part.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
}

function isItem(projectId: number, id: string) {
  return and(eq(knowledgeItems.projectId, projectId), eq(knowledgeItems.id, id))
}

/** The unary plus keeps SQLite from scanning everything that is pending in the project. */
async function readPending(
  read: ReadDatabase,
  items: readonly { seq: number }[],
): Promise<[seq: number, left: PendingChunks][]> {
  const seqs = JSON.stringify(items.map(({ seq }) => seq))
  const rows = await read
    .select({
      seq: chunks.itemSeq,
      pending: sql<number>`count(*)`,
      untried: sql<number>`sum(${chunks.attempts} = 0)`,
      // The only minimum, so that SQLite takes the error from the same row: sqlite.org/lang_select.html#bareagg
      nextTryAt: sql<number | null>`min(${chunks.nextAttemptAt})`,
      lastError: chunks.lastError,
    })
    .from(chunks)
    .where(
      sql`${chunks.itemSeq} in (select value from json_each(${seqs})) and +${chunks.embeddingSpace} is null`,
    )
    .groupBy(chunks.itemSeq)
  return rows.map(({ seq, ...left }) => [seq, left])
}

interface ChunkColumns {
  position: number | null
  heading: string | null
  text: string | null
  overlapChars: number | null
  isEmbedded: number
}

/** Empty for the row of an item without chunks. */
function toStoredChunk({ position, heading, text, overlapChars, isEmbedded }: ChunkColumns): StoredChunk[] {
  if (position === null || text === null) return []
  return [
    {
      position,
      heading,
      text,
      characters: codePoints(text),
      overlapCharacters: codePoints(text.slice(0, overlapChars ?? 0)),
      isEmbedded: isEmbedded === 1,
    },
  ]
}
