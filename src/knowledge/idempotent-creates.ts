import { and, eq, gt, sql } from 'drizzle-orm'
import { isTaken } from '../db/constraint.ts'
import type { RecordHash } from '../db/record-hash.ts'
import { chunks, idempotentCreates, knowledgeItems } from '../db/schema.ts'
import { preparedQueries, type StoreOf } from '../db/store.ts'
import { AppError, invalidRequest } from '../errors.ts'
import type { CreatedItem, Knowledge } from './knowledge.ts'
import type { NewItem } from './schemas.ts'

const keptForMs = 86_400_000
/** Expired rows that one create deletes. */
const expiredPerCreateMax = 100
const keyPattern = /^[\x20-\x7e]{1,255}$/

interface IdempotentCreatesOptions {
  store: StoreOf
  recordHash: RecordHash
  knowledge: Knowledge
  now: () => number
}

const queries = preparedQueries((db) => ({
  known: db
    .select({ bodyHash: idempotentCreates.bodyHash, itemId: idempotentCreates.itemId })
    .from(idempotentCreates)
    .where(
      and(
        eq(idempotentCreates.projectId, sql.placeholder('projectId')),
        eq(idempotentCreates.keyHash, sql.placeholder('keyHash')),
        gt(idempotentCreates.createdAt, sql.placeholder('expiredAt')),
      ),
    )
    .prepare(),
  pendingChunk: db
    .select({ label: chunks.label })
    .from(knowledgeItems)
    .innerJoin(chunks, eq(chunks.itemSeq, knowledgeItems.seq))
    .where(
      and(
        eq(knowledgeItems.projectId, sql.placeholder('projectId')),
        eq(knowledgeItems.id, sql.placeholder('itemId')),
        sql`${chunks.embeddingSpace} is null`,
      ),
    )
    .limit(1)
    .prepare(),
}))

/**
 * Creates that a client can safely retry: for a day, the same `Idempotency-Key` with the same body returns the item that
 * the first request created. The key is committed in the same transaction as the item.
 */
export class IdempotentCreates {
  readonly #options: IdempotentCreatesOptions
  /** The hashed keys of requests that are under way. */
  readonly #running = new Set<string>()

  constructor(options: IdempotentCreatesOptions) {
    this.#options = options
  }

  /**
   * @param key the header's value; null when there is none
   * @throws idempotency_key_in_use, idempotency_key_reused, item_was_deleted
   */
  async add(
    projectId: number,
    input: NewItem,
    key: string | null,
  ): Promise<CreatedItem & { isReplayed: boolean }> {
    const { recordHash, knowledge } = this.#options
    if (key === null) return { ...(await knowledge.add(projectId, input)), isReplayed: false }
    if (!keyPattern.test(key)) throw invalidKey()
    const keyHash = recordHash(projectId, 'idempotency_key', key)
    const bodyHash = recordHash(
      projectId,
      'body',
      JSON.stringify([input.name, input.text, input.description ?? '']),
    )
    if (this.#running.has(keyHash)) throw keyInUse()
    this.#running.add(keyHash)
    try {
      return await this.#addOnce(projectId, input, { keyHash, bodyHash })
    } finally {
      this.#running.delete(keyHash)
    }
  }

  async #addOnce(projectId: number, input: NewItem, hashes: { keyHash: string; bodyHash: string }) {
    const known = await this.#replay(projectId, hashes)
    if (known) return known
    try {
      const created = await this.#options.knowledge.add(projectId, input, (itemId) =>
        this.#keyStatements(projectId, itemId, hashes),
      )
      return { ...created, isReplayed: false }
    } catch (error) {
      // Another process was first with the same key, so nothing of this item was stored.
      const replayed = isTaken(error, 'idempotent_creates.project_id')
        ? await this.#replay(projectId, hashes)
        : null
      if (!replayed) throw error
      return replayed
    }
  }

  /** The item that the first request with this key created; null when there was none. */
  async #replay(projectId: number, { keyHash, bodyHash }: { keyHash: string; bodyHash: string }) {
    const { read } = this.#options.store(projectId)
    const known = await queries(read).known.get({ projectId, keyHash, expiredAt: this.#expiredAt() })
    if (!known) return null
    const { itemId } = known
    if (known.bodyHash !== bodyHash) throw keyReused()
    if (itemId === null) throw itemWasDeleted()
    const item = await this.#options.knowledge.get(projectId, itemId)
    const pending = await queries(read).pendingChunk.get({ projectId, itemId })
    return { item, isIndexed: pending === undefined, isReplayed: true }
  }

  #keyStatements(
    projectId: number,
    itemId: string,
    { keyHash, bodyHash }: { keyHash: string; bodyHash: string },
  ) {
    const expiredAt = this.#expiredAt()
    return [
      sql`delete from ${idempotentCreates} where rowid in (
        select rowid from ${idempotentCreates} where created_at <= ${expiredAt} limit ${expiredPerCreateMax})`,
      sql`delete from ${idempotentCreates}
        where project_id = ${projectId} and key_hash = ${keyHash} and created_at <= ${expiredAt}`,
      sql`insert into ${idempotentCreates} (project_id, key_hash, body_hash, item_id, created_at)
        values (${projectId}, ${keyHash}, ${bodyHash}, ${itemId}, ${this.#options.now()})`,
    ]
  }

  #expiredAt(): number {
    return this.#options.now() - keptForMs
  }
}

function invalidKey(): AppError {
  const message = 'must be 1 to 255 printable ASCII characters'
  return invalidRequest([{ field: 'Idempotency-Key', message }])
}

function keyInUse(): AppError {
  return new AppError('idempotency_key_in_use', 'Request with this Idempotency-Key is still running', {
    detail: 'The first request with this key is still running. Try again in a moment.',
    retryAfterSeconds: 1,
  })
}

function keyReused(): AppError {
  return new AppError('idempotency_key_reused', 'Idempotency-Key was used with another body', {
    detail:
      'Use a new key for each create. A retry must have the same body as the first request with its key.',
  })
}

function itemWasDeleted(): AppError {
  return new AppError('item_was_deleted', 'Knowledge item was deleted', {
    detail:
      'The item created with this Idempotency-Key has since been deleted. Create it again with another key.',
  })
}
