import { and, eq, sql } from 'drizzle-orm'
import type { IndexStatus, KnowledgeRows, StoredChunk } from '../console/answers.ts'
import { chunks, knowledgeItems } from '../db/schema.ts'
import { preparedQueries, type StoreOf } from '../db/store.ts'
import type { Knowledge } from './knowledge.ts'
import type { Item, ItemPageRequest } from './schemas.ts'

interface KnowledgeStatusOptions {
  store: StoreOf
  knowledge: Pick<Knowledge, 'page' | 'get'>
  now: () => number
}

interface Progress {
  chunks: number
  pending: number
  lastError: string | null
  nextAttemptAt: number | null
}

const queries = preparedQueries((db) => ({
  chunkCounts: db
    .select({ id: sql<string>`items.id`, chunks: sql<number>`count(${chunks.label})` })
    .from(sql`json_each(${sql.placeholder('ids')}) wanted
      cross join knowledge_items items on items.project_id = ${sql.placeholder('projectId')} and items.id = wanted.value
      left join chunks on chunks.item_seq = items.seq`)
    .groupBy(sql`items.seq`)
    .prepare(),
  // From the index of pending chunks alone, which holds few: rows of ready ones are long, with their vectors.
  pending: db
    .select({
      id: sql<string>`items.id`,
      pending: sql<number>`count(*)`,
      lastError: sql<string | null>`max(chunks.last_error)`,
      nextAttemptAt: sql<number | null>`min(chunks.next_attempt_at)`,
    })
    .from(sql`chunks indexed by chunks_pending
      cross join knowledge_items items on items.seq = chunks.item_seq`)
    .where(
      sql`chunks.project_id = ${sql.placeholder('projectId')} and chunks.embedding_space is null
        and items.id in (select value from json_each(${sql.placeholder('ids')}))`,
    )
    .groupBy(sql`items.seq`)
    .prepare(),
  count: db
    .select({ items: sql<number>`count(*)` })
    .from(knowledgeItems)
    .where(eq(knowledgeItems.projectId, sql.placeholder('projectId')))
    .prepare(),
  chunks: db
    .select({
      position: chunks.position,
      heading: chunks.heading,
      text: chunks.text,
      overlapChars: chunks.overlapChars,
      isEmbedded: sql<number>`${chunks.embeddingSpace} is not null`,
    })
    .from(chunks)
    .innerJoin(knowledgeItems, eq(knowledgeItems.seq, chunks.itemSeq))
    .where(
      and(
        eq(knowledgeItems.projectId, sql.placeholder('projectId')),
        eq(knowledgeItems.id, sql.placeholder('id')),
      ),
    )
    .orderBy(chunks.position)
    .prepare(),
}))

/** Items with how far they are indexed: found by their words at once, by their vectors once these are there. */
export class KnowledgeStatus {
  readonly #options: KnowledgeStatusOptions

  constructor(options: KnowledgeStatusOptions) {
    this.#options = options
  }

  /** A page of items, newest first. */
  async list(projectId: number, request: ItemPageRequest): Promise<KnowledgeRows> {
    const { knowledge, store } = this.#options
    const page = await knowledge.page(projectId, request)
    const progress = await this.#progressOf(
      projectId,
      page.data.map(({ id }) => id),
    )
    const total = await queries(store(projectId).read).count.get({ projectId })
    return {
      data: page.data.map((item) => {
        const found = progress.get(item.id)
        return { ...item, chunks: found?.chunks ?? 0, status: this.#toStatus(found) }
      }),
      nextCursor: page.nextCursor,
      total: total?.items ?? 0,
    }
  }

  async get(projectId: number, id: string): Promise<Item & { status: IndexStatus }> {
    const item = await this.#options.knowledge.get(projectId, id)
    const progress = await this.#progressOf(projectId, [id])
    return { ...item, status: this.#toStatus(progress.get(id)) }
  }

  /** The item's chunks as they are stored and found. */
  async chunks(projectId: number, id: string): Promise<{ data: StoredChunk[] }> {
    // Says that there is no such item, where its chunks alone would be none.
    await this.#options.knowledge.get(projectId, id)
    const rows = await queries(this.#options.store(projectId).read).chunks.all({ projectId, id })
    return {
      data: rows.map(({ overlapChars, isEmbedded, ...chunk }) => ({
        ...chunk,
        characters: [...chunk.text].length,
        overlapCharacters: [...chunk.text.slice(0, overlapChars)].length,
        isEmbedded: isEmbedded === 1,
      })),
    }
  }

  async #progressOf(projectId: number, itemIds: string[]): Promise<Map<string, Progress>> {
    const { read } = this.#options.store(projectId)
    const ids = JSON.stringify(itemIds)
    const pending = new Map((await queries(read).pending.all({ projectId, ids })).map((row) => [row.id, row]))
    const counts = await queries(read).chunkCounts.all({ projectId, ids })
    return new Map(
      counts.map(({ id, chunks }) => {
        const left = pending.get(id)
        return [
          id,
          {
            chunks,
            pending: left?.pending ?? 0,
            lastError: left?.lastError ?? null,
            nextAttemptAt: left?.nextAttemptAt ?? null,
          },
        ]
      }),
    )
  }

  #toStatus(progress: Progress | undefined): IndexStatus {
    if (!progress || progress.pending === 0) return { state: 'ready' }
    const ready = progress.chunks - progress.pending
    if (progress.lastError === null) return { state: 'indexing', ready }
    const { nextAttemptAt } = progress
    const isLater = nextAttemptAt !== null && nextAttemptAt > this.#options.now()
    return {
      state: 'waiting',
      ready,
      reason: asSentence(progress.lastError),
      nextTryAt: isLater ? new Date(nextAttemptAt).toISOString() : null,
    }
  }
}

function asSentence(message: string): string {
  const trimmed = message.trim()
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`
}
