import { eq, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { chunks, erasures, idempotentCreates, itemTags, knowledgeItems, projects } from '../db/schema.ts'
import type { SizedRow } from '../db/slices.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { AppError } from '../errors.ts'
import { type ActedBy, actorIdOf } from '../identity.ts'
import { newId } from '../ids.ts'
import type { SearchScope } from '../tags.ts'
import { type TagFilter, toTags } from '../text/tags.ts'
import { type Chunk, sha256 } from './chunking/chunk.ts'
import { toChunkPreview } from './chunking/chunk-preview.ts'
import type { TextThreads } from './chunking/text-threads.ts'
import { insertWords, readNewestSegment } from './chunking/word-rows.ts'
import type { VectorIndex } from './indexing/index/vector-index.ts'
import type { Indexer } from './indexing/indexer.ts'
import { leaseMsDefault } from './indexing/leases.ts'
import { cutPage, type ItemListRequest, type ItemSlices, itemFields, readCursor } from './item-list.ts'
import { type ItemHead, itemQueries, readSlices, toItem } from './item-rows.ts'
import type { Item, ItemPage, ItemPageRequest, NewItem, Preview } from './schemas.ts'

const pageLimitDefault = 20
const tagsListedMax = 1_000

/** Makes statements that are committed in the same transaction as the item. */
type Alongside = (itemId: string) => readonly SQL[]

interface StoreOptions {
  /** How long only this process may embed the chunks; 0 for no lease. */
  leaseMs?: number
  alongside?: Alongside | undefined
  /** The item's id; a new one by default. */
  id?: string | undefined
  by?: ActedBy | undefined
}

export interface ItemsRequest extends ItemPageRequest {
  /** Part of the name, ignoring the case of ASCII letters; empty for all items. */
  name?: string | undefined
  /** All items by default. */
  filter?: TagFilter | undefined
}

export interface KnowledgeFigures {
  items: number
  chunks: number
  /** Chunks that have no vector yet. */
  pendingChunks: number
}

interface KnowledgeParts {
  textThreads: Pick<TextThreads, 'toChunkRows'>
  indexer: Pick<Indexer, 'settle'>
  index: Pick<VectorIndex, 'remove'>
  erasure: Pick<Erasure, 'schedule'>
}

/** Whether to change an item, given the number of its last change; null if there is no item. */
export type Precondition = (changeSeq: number | null) => boolean

export interface CreatedItem {
  item: Item
  /** The change number of its last change. */
  changeSeq: number
  /** Whether vector search finds it. */
  isIndexed: boolean
  /** The id of the oldest earlier item with the same text; null if it is the first. */
  duplicateOf: string | null
}

/** An item with a certain text. */
export interface Twin {
  id: string
  name: string
  /** The change number of its last change. */
  changeSeq: number
}

/** A project's knowledge: items, each with its chunks, keyword rows and vectors. */
export class Knowledge {
  readonly #parts: Core & KnowledgeParts

  constructor(core: Core, parts: KnowledgeParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Stores the item, so that keyword search finds it, and waits up to INDEX_WAIT_MS for its vectors. */
  async add(
    projectId: number,
    input: NewItem,
    options: Omit<StoreOptions, 'leaseMs'> = {},
  ): Promise<CreatedItem> {
    const { config, indexer } = this.#parts
    const { labels, ...item } = await this.store(projectId, input, { ...options, leaseMs: leaseMsDefault })
    return { ...item, isIndexed: await indexer.settle(projectId, labels, config.indexWaitMs) }
  }

  /** Stores the item and leaves its chunks pending. */
  async store(
    projectId: number,
    input: NewItem,
    { leaseMs = 0, alongside = () => [], id = newId('kn'), by }: StoreOptions = {},
  ): Promise<Omit<CreatedItem, 'isIndexed'> & { labels: number[] }> {
    this.checkSize(input.text)
    const { audit, recordHash } = this.#parts
    const createdAt = this.#parts.now()
    const { description = '', tags = [] } = input
    const item = toItem({ ...input, description, tags: toTags(tags), id, createdAt })
    const { rows, words } = await this.#parts.textThreads.toChunkRows(item.text, item.name)
    const leasedUntil = leaseMs > 0 ? createdAt + leaseMs : null
    const { read, write } = this.#parts.store(projectId)
    const segment = await readNewestSegment(read)
    const itemSeq = sql`(select seq from ${knowledgeItems} where project_id = ${projectId} and id = ${item.id})`
    const { created, inserted, twins } = await write.batch({
      number: sql`update ${projects} set change_seq = change_seq + 1 where id = ${projectId}`,
      created: write.all<{ changeSeq: number }>(sql`
        insert into ${knowledgeItems} (project_id, id, name, description, text, text_hash, tags, updated_at,
          updated_by, change_seq, created_at)
        select ${projectId}, ${item.id}, ${item.name}, ${item.description}, ${item.text}, ${sha256(item.text)},
          ${JSON.stringify(item.tags)}, ${createdAt}, ${actorIdOf(by)}, change_seq, ${createdAt} from ${projects} where id = ${projectId}
        returning change_seq as changeSeq`),
      entry: audit.entry({
        by,
        projectId,
        action: 'item_created',
        target: recordHash(projectId, 'item', item.id),
        targetRef: itemSeq,
      }),
      inserted: write.all<{ label: number }>(sql`
        insert into ${chunks} (project_id, item_seq, position, heading, text, overlap_chars, text_hash, segment,
          word_count, next_attempt_at, leased_until)
        select ${projectId}, ${itemSeq}, value ->> 'position', value ->> 'heading', value ->> 'text',
          value ->> 'overlapChars', value ->> 'textHash', ${segment}, value ->> 'wordCount', ${createdAt},
          ${leasedUntil}
        from json_each(${rows}) returning label`),
      words: insertWords({ itemSeq, segment, words }),
      alongside: alongside(item.id),
      twins: write.all<{ id: string }>(earlierTwin(projectId, item)),
    })
    const labels = inserted.map(({ label }) => label)
    return { item, changeSeq: created[0]?.changeSeq ?? 0, labels, duplicateOf: twins[0]?.id ?? null }
  }

  /** The chunks that the text would become. */
  async preview(text: string): Promise<Preview> {
    this.checkSize(text)
    const { rows } = await this.#parts.textThreads.toChunkRows(text, '')
    const previewed: Chunk[] = JSON.parse(rows)
    return { data: previewed.map(toChunkPreview) }
  }

  /** Items, newest first, all by default. Items deleted meanwhile are left out. */
  async list(
    projectId: number,
    { limit, cursor, fields = itemFields, filter = [] }: ItemListRequest = {},
  ): Promise<ItemSlices> {
    const { read } = this.#parts.store(projectId)
    const rowsMax = limit === undefined ? -1 : limit + 1
    const sizeRows = await itemQueries(read).sizes.all({
      projectId,
      rows: rowsMax,
      filter: JSON.stringify(filter),
      ...readCursor(cursor),
    })
    const { rows, next } = cutPage(sizeRows, limit)
    const sizes = rows.map(({ seq, chars }): SizedRow => [seq, chars])
    return { slices: readSlices(read, sizes, fields), next }
  }

  /** Items as JSON by row number. Deleted ones are absent. */
  async documents(projectId: number, seqs: readonly number[]): Promise<Map<number, string>> {
    if (seqs.length === 0) return new Map()
    const { bySeqs } = itemQueries(this.#parts.store(projectId).read)
    const rows = await bySeqs.all({ seqs: JSON.stringify(seqs), hasText: 1 })
    return new Map(rows.map((row) => [row.seq, JSON.stringify(toItem(row))]))
  }

  /** A page of items without their texts, newest first. */
  async page(
    projectId: number,
    { limit = pageLimitDefault, cursor, name = '', filter = [] }: ItemsRequest,
  ): Promise<ItemPage> {
    const { read, readInBackground } = this.#parts.store(projectId)
    // Only a search by name or tags scans many rows, so it runs aside.
    const { page } = itemQueries(name || filter.length > 0 ? readInBackground : read)
    const which = { projectId, name, filter: JSON.stringify(filter) }
    const pageRows = await page.all({ ...which, rows: limit + 1, ...readCursor(cursor) })
    const { rows, next: nextCursor } = cutPage(pageRows, limit)
    const data = rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt).toISOString() }))
    return { data, nextCursor }
  }

  /** The project's tags in order, at most 1,000. */
  async tags(projectId: number): Promise<string[]> {
    const { readInBackground } = this.#parts.store(projectId)
    const rows = await readInBackground
      .selectDistinct({ tag: itemTags.tag })
      .from(itemTags)
      .where(eq(itemTags.projectId, projectId))
      .orderBy(itemTags.tag)
      .limit(tagsListedMax)
    return rows.map(({ tag }) => tag)
  }

  /** How many items a list has on all its pages. */
  async count(
    projectId: number,
    { name = '', filter = [] }: Pick<ItemsRequest, 'name' | 'filter'> = {},
  ): Promise<number> {
    const { count } = itemQueries(this.#parts.store(projectId).readInBackground)
    return (await count.get({ projectId, name, filter: JSON.stringify(filter) }))?.items ?? 0
  }

  /** The id, the name, the tags as JSON and the text's SHA-256 of each item: enough to tell whether it exists already. */
  async contents(projectId: number): Promise<{ id: string; name: string; textHash: string; tags: string }[]> {
    return await this.#parts.store(projectId).read.all(sql`
      select id, name, text_hash as textHash, tags from ${knowledgeItems} where project_id = ${projectId}`)
  }

  async figures(projectId: number): Promise<KnowledgeFigures> {
    const [figures = { items: 0, chunks: 0, pendingChunks: 0 }] = await this.#parts
      .store(projectId)
      .readInBackground.select({
        items: sql<number>`(select count(*) from ${knowledgeItems} where project_id = ${projectId})`,
        chunks: sql<number>`count(*)`,
        pendingChunks: sql<number>`count(*) filter (where embedding_space is null)`,
      })
      .from(chunks)
      .where(eq(chunks.projectId, projectId))
    return figures
  }

  /** Returns all items without their texts, newest first. */
  async heads(projectId: number): Promise<ItemHead[]> {
    return await itemQueries(this.#parts.store(projectId).read).heads.all({ projectId })
  }

  /** Null if the project has no such item within these tags. */
  async head({ projectId, tags }: SearchScope, id: string): Promise<ItemHead | null> {
    const { headWithin } = itemQueries(this.#parts.store(projectId).read)
    return (await headWithin.get({ projectId, id, filter: JSON.stringify(tags) })) ?? null
  }

  /** The change number of the item's last change. @throws not_found */
  async changeSeq(projectId: number, id: string): Promise<number> {
    const row = await itemQueries(this.#parts.store(projectId).read).headById.get({ projectId, id })
    if (!row) throw itemNotFound()
    return row.changeSeq
  }

  /** @param tags those that it must be within. @throws not_found */
  async get(projectId: number, id: string, tags: TagFilter = []): Promise<Item> {
    if (tags.length > 0 && !(await this.head({ projectId, tags }, id))) throw itemNotFound()
    const row = await itemQueries(this.#parts.store(projectId).read).byId.get({ projectId, id })
    if (!row) throw itemNotFound()
    return toItem(row)
  }

  /** The oldest item with exactly this text; null if there is none. */
  async twin(projectId: number, text: string): Promise<Twin | null> {
    const [twin] = await this.#parts.store(projectId).read.all<Twin>(sql`
      select id, name, change_seq as changeSeq from ${knowledgeItems}
      where project_id = ${projectId} and text_hash = ${sha256(text)} order by seq limit 1`)
    return twin ?? null
  }

  /** The id of the oldest earlier item with the same text; null if the item is the first. */
  async duplicateOf(projectId: number, item: Item): Promise<string | null> {
    const [twin] = await this.#parts.store(projectId).read.all<{ id: string }>(earlierTwin(projectId, item))
    return twin?.id ?? null
  }

  /** Whether every chunk of the item has its vector. */
  async isIndexed(projectId: number, id: string): Promise<boolean> {
    const pending = await this.#parts.store(projectId).read.all(sql`
      select 1 from knowledge_items join chunks on item_seq = seq
      where knowledge_items.project_id = ${projectId} and id = ${id} and +embedding_space is null limit 1`)
    return pending.length === 0
  }

  /**
   * Deletes an item with all its chunks and vectors.
   * @throws not_found, or item_has_changed unless `isWanted`
   */
  async delete(
    projectId: number,
    id: string,
    by?: ActedBy,
    isWanted?: Precondition,
  ): Promise<{ id: string; deleted: true }> {
    const { read, writeWhenFull: write } = this.#parts.store(projectId)
    const head = await itemQueries(read).headById.get({ projectId, id })
    if (isWanted && !isWanted(head?.changeSeq ?? null)) throw itemHasChanged()
    if (!head) throw itemNotFound()
    const { seq: itemSeq, changeSeq } = head
    const idHash = this.#parts.recordHash(projectId, 'item', id)
    // With a precondition, only the version that it was checked on is deleted.
    const item = sql`select seq from ${knowledgeItems} where project_id = ${projectId} and seq = ${itemSeq}
      and ${isWanted ? sql`change_seq = ${changeSeq}` : sql`true`}`
    const { raised, deletedChunks, deletedItems } = await write.batch({
      raised: write.all<{ version: number }>(sql`
        update ${projects} set change_seq = change_seq + 1, knowledge_version = knowledge_version + 1
        where id = ${projectId} and exists (${item}) returning knowledge_version as version`),
      ledger: sql`
        insert into ${erasures} (project_id, kind, id_hash, record, change_seq, requested_at)
        select ${projectId}, 'item', ${idHash}, ${itemSeq}, change_seq, ${this.#parts.now()}
        from ${projects} where id = ${projectId} and exists (${item})
        on conflict do nothing`,
      deletedChunks: write.all<{ label: number }>(sql`
        delete from ${chunks} where item_seq in (${item}) returning label`),
      forgotten: sql`
        update ${idempotentCreates} set item_id = null
        where project_id = ${projectId} and item_id = ${id} and exists (${item})`,
      deletedItems: write.all(sql`delete from ${knowledgeItems} where seq in (${item}) returning seq`),
      entry: this.#parts.audit.entry({ by, projectId, action: 'item_deleted', target: idHash }),
    })
    if (deletedItems.length === 0) throw isWanted ? itemHasChanged() : itemNotFound()
    this.#parts.erasure.schedule(projectId)
    await this.removeFromIndex(projectId, deletedChunks, raised[0]?.version)
    return { id, deleted: true }
  }

  /** Deletes items one after the other. Those that are gone already are not counted. */
  async deleteAll(projectId: number, ids: readonly string[], by?: ActedBy): Promise<{ deleted: number }> {
    let deleted = 0
    for (const id of new Set(ids)) {
      const isDeleted = await this.delete(projectId, id, by).catch((error) => {
        // Somebody else has deleted it: that is what was asked for.
        if (error instanceof AppError && error.code === 'not_found') return null
        throw error
      })
      if (isDeleted) deleted++
    }
    return { deleted }
  }

  /** Call it after the rows of these chunks are deleted. Never fails. */
  async removeFromIndex(
    projectId: number,
    chunks: readonly { label: number }[],
    version?: number,
  ): Promise<void> {
    const { index, log } = this.#parts
    const labels = chunks.map(({ label }) => label)
    try {
      await index.remove(projectId, labels, version)
    } catch (error) {
      // The deletion stays in force: search leaves out chunks without a row, and the follower updates the index.
      log.warn({ error, projectId }, 'The vector index did not remove vectors; the follower will try again')
    }
  }

  /** @throws payload_too_large if the text is too long for an item */
  checkSize(text: string): void {
    const bytes = Buffer.byteLength(text)
    const { knowledgeTextBytesMax: textBytesMax } = this.#parts.config
    if (bytes <= textBytesMax) return
    throw new AppError('payload_too_large', 'Payload too large', {
      detail: `text has ${bytes} bytes of UTF-8. At most ${textBytesMax} are accepted. Split it into several items.`,
    })
  }
}

function earlierTwin(projectId: number, { id, text }: Item): SQL {
  return sql`
    select id from ${knowledgeItems} where project_id = ${projectId} and text_hash = ${sha256(text)}
      and seq < (select seq from ${knowledgeItems} where project_id = ${projectId} and id = ${id})
    order by seq limit 1`
}

export function itemNotFound(): AppError {
  return new AppError('not_found', 'Knowledge item not found', {
    detail: 'No knowledge item in this project has this id. It may have been deleted.',
  })
}

export function itemHasChanged(): AppError {
  return new AppError('item_has_changed', 'Item has changed', {
    detail:
      'The item does not match If-Match or If-None-Match. Read it again, then repeat the change with its new ETag.',
  })
}
