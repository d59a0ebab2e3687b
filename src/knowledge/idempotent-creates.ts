import { type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { isTaken } from '../db/constraint.ts'
import { idempotentCreates } from '../db/schema.ts'
import { AppError, invalidRequest } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import type { CreatedItem, Knowledge } from './knowledge.ts'
import type { NewItem } from './schemas.ts'

const keptForMs = 86_400_000
/** Expired rows that one create deletes. */
const expiredPerCreateMax = 100
const keyPattern = /^[\x20-\x7e]{1,255}$/

interface IdempotentCreatesParts {
  knowledge: Knowledge
}

/** The keyed hashes of a request's key and body, which are all that is stored of them. */
interface Hashes {
  keyHash: string
  bodyHash: string
}

/** An item, and whether an earlier request created it. */
export type Outcome = CreatedItem & { isReplayed: boolean }

/**
 * Creates that a client can safely retry: for a day, the same `Idempotency-Key` with the same body returns the item that
 * the first request created. The key is committed in the same transaction as the item.
 */
export class IdempotentCreates {
  readonly #parts: Core & IdempotentCreatesParts
  /** The hashed keys of requests in progress. */
  readonly #running = new Set<string>()

  constructor(core: Core, parts: IdempotentCreatesParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * @param key the header's value; null when there is none
   * @throws idempotency_key_in_use, idempotency_key_reused, item_was_deleted
   */
  async add(projectId: number, input: NewItem, key: string | null, by?: ActedBy): Promise<Outcome> {
    const { recordHash, knowledge } = this.#parts
    if (key === null) return { ...(await knowledge.add(projectId, input, { by })), isReplayed: false }
    if (!keyPattern.test(key)) {
      const message = 'must be 1 to 255 printable ASCII characters'
      throw invalidRequest([{ field: 'Idempotency-Key', message }])
    }
    const body = JSON.stringify([input.name, input.text, input.description ?? '', ...(input.tags ?? [])])
    const keyHash = recordHash(projectId, 'idempotency_key', key)
    const hashes = { keyHash, bodyHash: recordHash(projectId, 'body', body) }
    if (this.#running.has(keyHash)) throw keyInUse()
    this.#running.add(keyHash)
    try {
      return (await this.#replay(projectId, hashes)) ?? (await this.#create(projectId, input, hashes, by))
    } finally {
      this.#running.delete(keyHash)
    }
  }

  async #create(
    projectId: number,
    input: NewItem,
    hashes: Hashes,
    by: ActedBy | undefined,
  ): Promise<Outcome> {
    const alongside = (itemId: string) => this.#keyStatements(projectId, itemId, hashes)
    try {
      return {
        ...(await this.#parts.knowledge.add(projectId, input, { alongside, by })),
        isReplayed: false,
      }
    } catch (error) {
      // Another process has used the same key first, so nothing of this item was stored.
      const isSecond = isTaken(error, 'idempotent_creates.project_id')
      const replay = isSecond ? await this.#replay(projectId, hashes) : null
      if (replay) return replay
      throw error
    }
  }

  /** The item that the first request with this key created; null when there was none. */
  async #replay(projectId: number, { keyHash, bodyHash }: Hashes): Promise<Outcome | null> {
    const { store, knowledge } = this.#parts
    const [earlier] = await store(projectId).read.all<{ bodyHash: string; itemId: string | null }>(sql`
      select body_hash as bodyHash, item_id as itemId from ${idempotentCreates}
      where project_id = ${projectId} and key_hash = ${keyHash} and created_at > ${this.#expiredAt()}`)
    if (!earlier) return null
    if (earlier.bodyHash !== bodyHash) throw keyReused()
    if (earlier.itemId === null) throw itemWasDeleted()
    const item = await knowledge.get(projectId, earlier.itemId)
    const [changeSeq, isIndexed, duplicateOf] = await Promise.all([
      knowledge.changeSeq(projectId, item.id),
      knowledge.isIndexed(projectId, item.id),
      knowledge.duplicateOf(projectId, item),
    ])
    return { item, changeSeq, isIndexed, duplicateOf, isReplayed: true }
  }

  #keyStatements(projectId: number, itemId: string, { keyHash, bodyHash }: Hashes): SQL[] {
    const expiredAt = this.#expiredAt()
    return [
      sql`delete from ${idempotentCreates} where rowid in (
        select rowid from ${idempotentCreates} where created_at <= ${expiredAt} limit ${expiredPerCreateMax})`,
      sql`delete from ${idempotentCreates}
        where project_id = ${projectId} and key_hash = ${keyHash} and created_at <= ${expiredAt}`,
      sql`insert into ${idempotentCreates} (project_id, key_hash, body_hash, item_id, created_at)
        values (${projectId}, ${keyHash}, ${bodyHash}, ${itemId}, ${this.#parts.now()})`,
    ]
  }

  #expiredAt(): number {
    return this.#parts.now() - keptForMs
  }
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
