import { sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { isTaken } from '../db/constraint.ts'
import { KeyedMutex } from '../db/keyed-mutex.ts'
import { erasures } from '../db/schema.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { AppError, invalidRequest, unavailable } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { tagsMax, toTags } from '../text/tags.ts'
import { type Chunk, embeddedText } from './chunking/chunk.ts'
import { compareChunks, describeChanges } from './chunking/chunk-changes.ts'
import { toChunkPreview } from './chunking/chunk-preview.ts'
import type { TextThreads } from './chunking/text-threads.ts'
import type { EarlyEmbedder } from './embedding/early-embedder.ts'
import type { Indexer } from './indexing/indexer.ts'
import { leaseMsDefault } from './indexing/leases.ts'
import { itemQueries, type StoredItem, toItem } from './item-rows.ts'
import { ItemSwap, type StoredChunk, type Swap, type Swapped } from './item-swap.ts'
import {
  type CreatedItem,
  itemHasChanged,
  itemNotFound,
  type Knowledge,
  type Precondition,
} from './knowledge.ts'
import type { ChangePreview, ItemChange, NewItem } from './schemas.ts'

/** After so many conflicts with other processes, the answer is 503. */
const attemptsMax = 20
/** The ids that clients may choose. */
const ownIdPattern = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/

interface ItemChangesParts {
  knowledge: Knowledge
  indexer: Pick<Indexer, 'addToIndex' | 'settle' | 'wake'>
  earlyEmbedder: EarlyEmbedder
  textThreads: Pick<TextThreads, 'toChunkRows'>
  erasure: Pick<Erasure, 'schedule'>
}

export type ChangedItem = CreatedItem & { outcome: 'created' | 'changed' | 'unchanged' }

interface ItemRequest {
  projectId: number
  id: string
  /** Makes the new item from the stored one. */
  toInput: (current: StoredItem | null) => NewItem
  by: ActedBy | undefined
  isWanted: Precondition | undefined
}

type Plan = Omit<Swap, 'vectors' | 'by'>

/** A request, and what has been found out for it so far. */
interface Request extends ItemRequest {
  /** The swap for the item as it was last read. */
  plan: Plan | null
  /** Vectors by embedded text. */
  vectors: Map<string, Float32Array>
  /** Whether to embed before the swap. */
  embeds: boolean
}

/** Items, and the tags that they gain or lose. */
export interface ItemsToTag {
  ids: readonly string[]
  add?: readonly string[]
  remove?: readonly string[]
}

/** The result of a try: committed; texts to embed first; or null if another process was faster. */
type Tried = { finish: () => Promise<ChangedItem> } | { toEmbed: string[] } | null

/** Replaces and changes items: search finds the old text until it finds the new one. */
export class ItemChanges {
  readonly #parts: Core & ItemChangesParts
  readonly #swap: ItemSwap
  readonly #mutex = new KeyedMutex()

  constructor(core: Core, parts: ItemChangesParts) {
    this.#parts = { ...core, ...parts }
    this.#swap = new ItemSwap(core, parts)
  }

  /**
   * Replaces the item, or creates it.
   * @throws item_has_changed unless `isWanted`
   */
  put(
    projectId: number,
    id: string,
    input: NewItem,
    by?: ActedBy,
    isWanted?: Precondition,
  ): Promise<ChangedItem> {
    return this.#change({ projectId, id, toInput: () => input, by, isWanted })
  }

  /** Replaces the item, or creates it. Tags that are left out stay as they are. */
  putKeepingTags(projectId: number, id: string, input: NewItem): Promise<ChangedItem> {
    const toInput = (current: StoredItem | null) => ({ ...input, tags: input.tags ?? current?.tags ?? [] })
    return this.#change({ projectId, id, toInput, by: undefined, isWanted: undefined })
  }

  /**
   * Adds tags to items, or takes them away, one item after the other. Those that are gone already are not counted.
   * @throws invalid_request for an item that would have too many
   */
  async tagAll(
    projectId: number,
    { ids, add = [], remove = [] }: ItemsToTag,
    by?: ActedBy,
  ): Promise<{ changed: number }> {
    let changed = 0
    for (const id of new Set(ids)) {
      const toInput = (current: StoredItem | null) => {
        if (!current) throw itemNotFound()
        const tags = [...new Set([...current.tags, ...add])].filter((tag) => !remove.includes(tag))
        if (tags.length > tagsMax)
          throw invalidRequest([{ field: 'add', message: `${current.name} has at most ${tagsMax} tags` }])
        return { ...toItem(current), tags }
      }
      const result = await this.#change({ projectId, id, toInput, by, isWanted: undefined }).catch(
        (error) => {
          // Somebody has deleted it meanwhile.
          if (error instanceof AppError && error.code === 'not_found') return null
          throw error
        },
      )
      if (result?.outcome === 'changed') changed++
    }
    return { changed }
  }

  /** @throws not_found, or item_has_changed unless `isWanted` */
  patch(
    projectId: number,
    id: string,
    change: ItemChange,
    by?: ActedBy,
    isWanted?: Precondition,
  ): Promise<ChangedItem> {
    const toInput = (current: StoredItem | null) => {
      if (!current) throw itemNotFound()
      return { ...toItem(current), ...change }
    }
    return this.#change({ projectId, id, toInput, by, isWanted })
  }

  /** The chunks that the changed item would have, and how they differ from the stored ones. */
  async preview(projectId: number, id: string, { name, text }: NewItem): Promise<ChangePreview> {
    const { knowledge, textThreads, store } = this.#parts
    knowledge.checkSize(text)
    const { read } = store(projectId)
    const current = await itemQueries(read).byId.get({ projectId, id })
    if (!current) throw itemNotFound()
    const before = { name: current.name, chunks: await this.#swap.readChunks(projectId, current.seq) }
    const { rows } = await textThreads.toChunkRows(text, '')
    const chunks: Chunk[] = JSON.parse(rows)
    const { fates, removed } = describeChanges(compareChunks(before, { name, chunks }), chunks)
    const data = chunks.map((chunk, at) => ({ ...toChunkPreview(chunk), change: fates[at] ?? 'added' }))
    return { data, removed }
  }

  async #change(itemRequest: ItemRequest): Promise<ChangedItem> {
    const { config, earlyEmbedder } = this.#parts
    const endsAt = performance.now() + config.indexWaitMs
    const request: Request = { ...itemRequest, plan: null, vectors: new Map(), embeds: true }
    const names = new Set([`${itemRequest.projectId} ${itemRequest.id}`])
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const outcome = await this.#mutex.run(names, () => this.#try(request))
      // Outside the mutex: others may change the item meanwhile.
      if (outcome && 'finish' in outcome) return await outcome.finish()
      if (!outcome) continue
      const vectors = await earlyEmbedder.embed(outcome.toEmbed, endsAt - performance.now())
      for (const [text, vector] of vectors) request.vectors.set(text, vector)
      request.embeds = vectors.size === outcome.toEmbed.length
    }
    throw tooContended()
  }

  async #try(request: Request): Promise<Tried> {
    const { projectId, id, toInput, by, isWanted } = request
    const { knowledge, store } = this.#parts
    const current = (await itemQueries(store(projectId).read).byId.get({ projectId, id })) ?? null
    if (isWanted && !isWanted(current?.changeSeq ?? null)) throw itemHasChanged()
    const input = toInput(current)
    knowledge.checkSize(input.text)
    if (!current) return await this.#create(projectId, id, input, by)
    const { name, description = '', text, tags = [] } = input
    const next = { ...current, name, description, text, tags: toTags(tags) }
    const { changeSeq } = current
    if (contentOf(next) === contentOf(current)) {
      const isIndexed = () => knowledge.isIndexed(projectId, id)
      const unchanged = { item: toItem(current), changeSeq, duplicateOf: null, outcome: 'unchanged' as const }
      return { finish: async () => ({ ...unchanged, isIndexed: await isIndexed() }) }
    }
    if (request.plan?.current.changeSeq !== changeSeq)
      request.plan = await this.#plan(projectId, current, next)
    return await this.#replace(request, request.plan)
  }

  async #create(projectId: number, id: string, input: NewItem, by: ActedBy | undefined): Promise<Tried> {
    checkOwnId(id)
    const { config, knowledge, indexer, recordHash } = this.#parts
    const idHash = recordHash(projectId, 'item', id)
    // The id is in use again, so readers of changes must not see a deletion. Its receipt stays.
    const alongside = () => [
      sql`update or replace ${erasures} set kind = 'text'
        where project_id = ${projectId} and kind = 'item' and id_hash = ${idHash}`,
    ]
    try {
      const options = { id, alongside, by, leaseMs: leaseMsDefault }
      const { labels, ...item } = await knowledge.store(projectId, input, options)
      const isIndexed = () => indexer.settle(projectId, labels, config.indexWaitMs)
      return { finish: async () => ({ ...item, isIndexed: await isIndexed(), outcome: 'created' }) }
    } catch (error) {
      if (isTaken(error, 'knowledge_items.project_id')) return null
      throw error
    }
  }

  async #plan(projectId: number, current: StoredItem, next: StoredItem): Promise<Plan> {
    const { rows, words } = await this.#parts.textThreads.toChunkRows(next.text, next.name)
    const chunks: Chunk[] = JSON.parse(rows)
    const before = await this.#swap.readChunks(projectId, current.seq)
    const changes = compareChunks({ name: current.name, chunks: before }, { name: next.name, chunks })
    return { current, next, chunks, words, before, changes }
  }

  async #replace({ projectId, by, vectors, embeds }: Request, plan: Plan): Promise<Tried> {
    const { next, chunks, changes } = plan
    const isEmbedded = ({ position }: Chunk) =>
      changes.unchanged.has(position) || changes.alike.get(position)?.isEmbedded === 1
    const toEmbed = chunks
      .filter((chunk) => !isEmbedded(chunk))
      .map((chunk) => embeddedText(next.name, chunk))
      .filter((text) => !vectors.has(text))
    if (embeds && toEmbed.length > 0) return { toEmbed: [...new Set(toEmbed)] }
    const swapped = await this.#swap.run(projectId, { ...plan, by, vectors })
    if (!swapped) return null
    this.#parts.erasure.schedule(projectId)
    return { finish: () => this.#index(projectId, plan, swapped) }
  }

  async #index(projectId: number, { next, changes }: Plan, swapped: Swapped) {
    const { indexer, knowledge } = this.#parts
    // Added first: in between, search finds both, and leaves out those without a row.
    if (swapped.embedded.length > 0) await indexer.addToIndex(projectId, swapped.embedded)
    if (changes.removed.length > 0)
      await knowledge.removeFromIndex(projectId, changes.removed, swapped.version)
    const isPending = ({ isEmbedded }: StoredChunk) => isEmbedded === 0
    const isIndexed = swapped.pending.length === 0 && ![...changes.unchanged.values()].some(isPending)
    if (!isIndexed) indexer.wake(projectId)
    const { changeSeq } = swapped
    return { item: toItem(next), changeSeq, isIndexed, duplicateOf: null, outcome: 'changed' as const }
  }
}

/** What a change must differ in. */
function contentOf({ name, description, text, tags }: StoredItem): string {
  return JSON.stringify([name, description, text, tags])
}

/** Names of routes with other methods, and the form of ids that only the service makes. */
const reservedIdPattern = /^(?:search|preview|files)$|^kn_/

/** @param id null for a path whose escapes are not UTF-8, whatever the router's types say */
function checkOwnId(id: string | null): void {
  if (id !== null && reservedIdPattern.test(id)) throw itemNotFound()
  if (id !== null && ownIdPattern.test(id)) return
  const message = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ -, and neither . nor ..'
  throw invalidRequest([{ field: 'id', message }])
}

function tooContended(): AppError {
  return unavailable('Too many requests are changing this item at once. Nothing was written.')
}
