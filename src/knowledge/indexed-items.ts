import { and, asc, eq, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { chunks, knowledgeItems } from '../db/schema.ts'
import { toChunkPreview } from './chunking/chunk-preview.ts'
import { type ItemsRequest, itemNotFound, type Knowledge } from './knowledge.ts'
import type { ChunkPreview, Item, ItemPage, ItemSummary } from './schemas.ts'

/** How far an item's chunks are embedded and indexed. */
export type IndexStatus =
  | { state: 'ready' }
  | { state: 'indexing'; ready: number }
  /** `reason` is the last error; `nextTryAt` is null when the next attempt is due. */
  | { state: 'waiting'; ready: number; reason: string; nextTryAt: string | null }

interface Indexed {
  chunks: number
  status: IndexStatus
}

/** Who wrote an item last; `name` is null if the person or key is gone. */
export interface Writer {
  name: string | null
  isKey: boolean
}

interface Changed {
  updatedAt: string
  /** Null for the command line. */
  updatedBy: Writer | null
}

/** An item without its text. */
export type KnowledgeRow = ItemSummary & Indexed & Changed

/** `changeSeq` is the number of the last change. */
export type ItemDetails = Item & KnowledgeRow & { changeSeq: number }

export interface KnowledgeRows extends ItemPage {
  data: KnowledgeRow[]
  total: number
  /** All tags of the project, in order. */
  tags: string[]
}

interface StoredChunk extends ChunkPreview {
  isEmbedded: boolean
}

/** An item's chunks, and those among them without a vector. */
interface ChunkCounts {
  chunks: number
  pending: number
  /** How many pending chunks were never tried. */
  untried: number
  /** When the first pending chunk is due. */
  nextTryAt: number | null
  /** The last error of that chunk. */
  lastError: string | null
}

interface IndexedItemsParts {
  knowledge: Pick<Knowledge, 'page' | 'count' | 'tags' | 'get' | 'changeSeq'>
}

/** Items and chunks as the console shows them, with their index status. */
export class IndexedItems {
  readonly #parts: Core & IndexedItemsParts

  constructor(core: Core, parts: IndexedItemsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** A page of items without their texts, newest first. */
  async list(projectId: number, request: ItemsRequest): Promise<KnowledgeRows> {
    const { knowledge } = this.#parts
    const { data, nextCursor } = await knowledge.page(projectId, request)
    return {
      data: await this.#withStatus(projectId, data),
      nextCursor,
      total: await knowledge.count(projectId, request),
      tags: await knowledge.tags(projectId),
    }
  }

  async get(projectId: number, id: string): Promise<ItemDetails> {
    const { knowledge } = this.#parts
    // Read before the item: if that changes in between, its editor is told.
    const changeSeq = await knowledge.changeSeq(projectId, id)
    const item = await knowledge.get(projectId, id)
    const summary = { ...item, changeSeq, textBytes: Buffer.byteLength(item.text) }
    const [details] = await this.#withStatus(projectId, [summary])
    if (!details) throw itemNotFound()
    return details
  }

  /** The item's chunks in order. */
  async chunks(projectId: number, id: string): Promise<{ data: StoredChunk[] }> {
    const { readForConsole } = this.#parts.store(projectId)
    const rows = await readForConsole
      .select({
        position: chunks.position,
        heading: chunks.heading,
        text: chunks.text,
        overlapChars: chunks.overlapChars,
        isEmbedded: sql<number>`${chunks.embeddingSpace} is not null`,
      })
      .from(knowledgeItems)
      .innerJoin(chunks, eq(chunks.itemSeq, knowledgeItems.seq))
      .where(and(eq(knowledgeItems.projectId, projectId), eq(knowledgeItems.id, id)))
      .orderBy(asc(chunks.position))
    // Every item has a chunk, since no text is empty.
    if (rows.length === 0) throw itemNotFound()
    return { data: rows.map((row) => ({ ...toChunkPreview(row), isEmbedded: row.isEmbedded === 1 })) }
  }

  /** Adds what the list shows of each. Leaves out items that were deleted meanwhile. */
  async #withStatus<Shown extends { id: string }>(
    projectId: number,
    items: readonly Shown[],
  ): Promise<(Shown & Indexed & Changed)[]> {
    const ids = JSON.stringify(items.map(({ id }) => id))
    const rows = await this.#parts
      .store(projectId)
      .readForConsole.select({
        id: sql<string>`id`,
        chunks: sql<number>`(select count(*) from chunks where item_seq = seq)`,
        pending: sql<number>`count(label)`,
        untried: sql<number>`coalesce(sum(attempts = 0), 0)`,
        // The query's only minimum, so SQLite takes the error from the same row: sqlite.org/lang_select.html#bareagg
        nextTryAt: sql<number | null>`min(next_attempt_at)`,
        lastError: sql<string | null>`last_error`,
        updatedAt: sql<number>`updated_at`,
        updatedBy: sql<string | null>`updated_by`,
        person: sql<string | null>`(select people.name from people where people.id = updated_by)`,
        key: sql<string | null>`(
          select keys.name from keys where keys.id = updated_by and keys.project_id = ${projectId})`,
      })
      // Chunks are read only if the project has pending ones. The unary plus keeps SQLite from reading all of these.
      .from(sql`knowledge_items left join chunks on item_seq = seq and +embedding_space is null
        and exists (select 1 from chunks where project_id = ${projectId} and embedding_space is null)`)
      .where(sql`knowledge_items.project_id = ${projectId} and id in (select value from json_each(${ids}))`)
      .groupBy(sql`seq`)
    const now = this.#parts.now()
    const byId = new Map(rows.map((row) => [row.id, row]))
    return items.flatMap((item) => {
      const row = byId.get(item.id)
      if (!row) return []
      const update = { updatedAt: new Date(row.updatedAt).toISOString(), updatedBy: toWriter(row) }
      return [{ ...item, chunks: row.chunks, status: indexStatus(row, now), ...update }]
    })
  }
}

interface WriterRow {
  updatedBy: string | null
  person: string | null
  key: string | null
}

function toWriter({ updatedBy, person, key }: WriterRow): Writer | null {
  return updatedBy === null ? null : { name: person ?? key, isKey: updatedBy.startsWith('key_') }
}

/** How far an item is indexed. It is `waiting` when every pending chunk has failed at least once. */
function indexStatus(counts: ChunkCounts, now: number): IndexStatus {
  const { chunks, pending, untried, nextTryAt, lastError } = counts
  const ready = chunks - pending
  if (pending === 0) return { state: 'ready' }
  if (untried > 0) return { state: 'indexing', ready }
  const reason = lastError ?? 'The last attempt failed'
  return {
    state: 'waiting',
    ready,
    reason: /[.!?…]$/.test(reason) ? reason : `${reason}.`,
    nextTryAt: nextTryAt === null || nextTryAt <= now ? null : new Date(nextTryAt).toISOString(),
  }
}
