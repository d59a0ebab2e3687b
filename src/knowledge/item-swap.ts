import { type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { chunks, erasures, knowledgeItems, projects } from '../db/schema.ts'
import { type ActedBy, actorIdOf } from '../identity.ts'
import { type Chunk, embeddedText, sha256 } from './chunking/chunk.ts'
import type { ChunkChanges } from './chunking/chunk-changes.ts'
import { insertWords, readNewestSegment } from './chunking/word-rows.ts'
import type { StoredItem } from './item-rows.ts'

interface ItemSwapParts {
  earlyEmbedder: { readonly space: string }
}

export interface StoredChunk {
  label: number
  position: number
  heading: string | null
  text: string
  overlapChars: number
  isEmbedded: number
}

/** The stored and the new version of an item, and what becomes of its chunks. */
export interface Swap {
  current: StoredItem
  next: StoredItem
  chunks: readonly Chunk[]
  /** What `toChunkRows` returns. */
  words: string
  before: readonly StoredChunk[]
  changes: ChunkChanges<StoredChunk>
  /** Vectors by embedded text. Chunks without one become pending. */
  vectors: ReadonlyMap<string, Float32Array>
  by: ActedBy | undefined
}

export interface Swapped {
  /** The change number of the swap. */
  changeSeq: number
  /** The project's knowledge version after the swap. */
  version: number
  /** Labels of the new chunks that have vectors. */
  embedded: number[]
  pending: number[]
}

/** Whether nothing else of an item is changed than its tags. */
function isRetagged(current: StoredItem, next: StoredItem): boolean {
  const { name, description, text } = current
  return name === next.name && description === next.description && text === next.text
}

/** Replaces an item's rows and keyword entries in one transaction. */
export class ItemSwap {
  readonly #parts: Core & ItemSwapParts

  constructor(core: Core, parts: ItemSwapParts) {
    this.#parts = { ...core, ...parts }
  }

  /** The item's chunks in order. */
  async readChunks(projectId: number, itemSeq: number): Promise<StoredChunk[]> {
    return await this.#parts.store(projectId).read.all(sql`
      select label, position, heading, text, overlap_chars as overlapChars, embedding_space is not null as isEmbedded
      from ${chunks} where item_seq = ${itemSeq} order by position`)
  }

  /** Null, and nothing is written, if the item has changed or was deleted since it was read. */
  async run(projectId: number, swap: Swap): Promise<Swapped | null> {
    const { audit, store } = this.#parts
    const { read, write } = store(projectId)
    const { current, next, changes, by } = swap
    const segment = await readNewestSegment(read)
    const now = this.#parts.now()
    const isCurrent = sql`exists (
      select 1 from ${knowledgeItems} where seq = ${current.seq} and change_seq = ${current.changeSeq})`
    const changeSeq = sql`(select change_seq from ${projects} where id = ${projectId})`
    const removedLabels = JSON.stringify(changes.removed.map(({ label }) => label))
    // A change of tags alone is no change of what the item says.
    const updated = isRetagged(current, next)
      ? sql``
      : sql`updated_at = ${now}, updated_by = ${actorIdOf(by)},`
    const idHash = this.#parts.recordHash(projectId, 'item', current.id)
    const { versions, inserted, changed } = await write.batch({
      versions: write.all<{ version: number }>(sql`
        update ${projects} set change_seq = change_seq + 1, knowledge_version = knowledge_version + 1,
          replaced_seq = change_seq + 1
        where id = ${projectId} and ${isCurrent} returning knowledge_version as version`),
      inserted: write.all<{ label: number; isEmbedded: number }>(
        this.#insertChunks(projectId, swap, { segment, now, isCurrent }),
      ),
      words: insertNewWords(swap, { segment, isCurrent }),
      removed: sql`
        delete from ${chunks} where label in (select value from json_each(${removedLabels})) and ${isCurrent}`,
      moved: movedChunks(swap, isCurrent),
      ledger: sql`
        insert into ${erasures} (project_id, kind, id_hash, record, change_seq, requested_at)
        select ${projectId}, 'text', ${idHash}, ${current.seq}, ${changeSeq}, ${now} where ${isCurrent}
        on conflict (project_id, kind, id_hash) do update set change_seq = excluded.change_seq,
          requested_at = excluded.requested_at, done_at = null`,
      changed: write.all<{ changeSeq: number }>(sql`
        update ${knowledgeItems} set name = ${next.name}, description = ${next.description}, text = ${next.text},
          text_hash = ${sha256(next.text)}, tags = ${JSON.stringify(next.tags)}, ${updated} change_seq = ${changeSeq}
        where seq = ${current.seq} and change_seq = ${current.changeSeq} returning change_seq as changeSeq`),
      entry: audit.entry({
        by,
        projectId,
        action: 'item_changed',
        target: idHash,
        targetRef: String(current.seq),
      }),
    })
    const [itemRow, versionRow] = [changed[0], versions[0]]
    if (!itemRow || !versionRow) return null
    const labels = (isEmbedded: number) =>
      inserted.filter((row) => row.isEmbedded === isEmbedded).map(({ label }) => label)
    return { ...itemRow, ...versionRow, embedded: labels(1), pending: labels(0) }
  }

  /** Inserts chunks with known vectors, or those of chunks with the same embedded text. */
  #insertChunks(
    projectId: number,
    { current, next, chunks: all, changes, vectors }: Swap,
    { segment, now, isCurrent }: { segment: number; now: number; isCurrent: SQL },
  ): SQL {
    const fresh: Float32Array[] = []
    const rows = all.flatMap((chunk) => {
      if (changes.unchanged.has(chunk.position)) return []
      const alike = changes.alike.get(chunk.position)
      const vector = vectors.get(embeddedText(next.name, chunk))
      const at = vector && !alike?.isEmbedded ? fresh.push(vector) - 1 : null
      return { ...chunk, alike: alike?.isEmbedded ? alike.label : null, at }
    })
    const bytes = (fresh[0]?.length ?? 0) * Float32Array.BYTES_PER_ELEMENT
    const buffer = Buffer.concat(fresh.map((v) => Buffer.from(v.buffer, v.byteOffset, v.byteLength)))
    const { space } = this.#parts.earlyEmbedder
    return sql`
      insert into ${chunks} (project_id, item_seq, position, heading, text, overlap_chars, text_hash,
        segment, word_count, embedding, embedding_space, next_attempt_at)
      select ${projectId}, ${current.seq}, value ->> 'position', value ->> 'heading', value ->> 'text',
        value ->> 'overlapChars', value ->> 'textHash', ${segment}, value ->> 'wordCount', vector, iif(vector is null, null, ${space}),
        iif(vector is null, ${now}, null)
      from (
        select value, iif(value ->> 'at' is null,
          (select embedding from ${chunks} where label = value ->> 'alike' and embedding_space = ${space}),
          substr(${buffer}, (value ->> 'at') * ${bytes} + 1, ${bytes})) as vector
        from json_each(${JSON.stringify(rows)}))
      where ${isCurrent} returning label, embedding_space is not null as isEmbedded`
  }
}

/** Labels ascend, so the new ones are those above all earlier ones of the item. */
function insertNewWords(
  { current, words, before }: Swap,
  { segment, isCurrent }: { segment: number; isCurrent: SQL },
): SQL[] {
  const newest = Math.max(0, ...before.map(({ label }) => label))
  const where = sql`label > ${newest} and ${isCurrent}`
  return insertWords({ itemSeq: current.seq, segment, words, where })
}

/** Updates the positions of chunks that stay, after chunks before them were added or removed. */
function movedChunks({ chunks: all, changes }: Swap, isCurrent: SQL): SQL {
  const moved = all.flatMap(({ position, overlapChars }) => {
    const before = changes.unchanged.get(position)
    const isMoved = before && (before.position !== position || before.overlapChars !== overlapChars)
    return isMoved ? [[before.label, position, overlapChars]] : []
  })
  return sql`
    update ${chunks} set position = value ->> 1, overlap_chars = value ->> 2
    from json_each(${JSON.stringify(moved)}) where label = value ->> 0 and ${isCurrent}`
}
