import { type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Core } from '../core/core.ts'
import { inSlices } from '../db/slices.ts'
import { preparedQueries } from '../db/store.ts'
import { ProjectWasDeleted } from '../errors.ts'
import type { ChangeWatch } from './change-watch.ts'
import type { Change, ChangeType, Include } from './schemas.ts'

/** Documents are read up to about this many characters at once. */
const sliceCharsMax = 50_000
const pagesKeptMax = 20

/** Documents of one kind, as JSON by row number. Those deleted meanwhile are absent. */
interface Documents {
  documents(projectId: number, seqs: readonly number[], isDetailed?: boolean): Promise<Map<number, string>>
}

interface ChangesParts {
  watch: ChangeWatch
  calls: Documents
  knowledge: Documents
}

export interface ChangesRequest {
  /** The `next` of the previous page; 0 for the first. */
  after: number
  limit: number
}

export interface ChangePage {
  changes: ChangedRecord[]
  next: number
  hasMore: boolean
}

/** A change, and what is needed to read its record. */
interface ChangedRecord {
  change: Change
  /** The row of the call or the item; null for a deletion. */
  row: number | null
  /** The record's id; null for a deletion, which does not keep it. */
  id: string | null
  /** The length of its document, and of a call's details. */
  chars: number
  detailChars: number
}

/** A row of `changesAfter`. */
interface ChangeRow {
  seq: number
  type: ChangeType
  row: number | null
  /** The id of the record, or the hash of a deleted record's id. */
  id: string
  at: number
  chars: number
  detailChars: number
}

/** A change as it is sent. */
export interface ChangeEntry {
  seq: number
  type: ChangeType
  json: string
}

interface EntriesOptions {
  include: Include
  /** Whether changes without documents come with ids. */
  withIds?: boolean
  /** Called with the number of characters about to be read. @throws unavailable when there is no room for them */
  admit?: (chars: number) => void
}

interface Follow extends EntriesOptions {
  /** Yields null after each such time without a change. */
  everyMs: number
  signal: AbortSignal
}

const queries = preparedQueries((db) => {
  const [projectId, after, rows] = ['projectId', 'after', 'rows'].map((name) => sql`${sql.placeholder(name)}`)
  return {
    page: db
      .select({
        newest: sql<number>`newest`,
        seq: sql<number | null>`seq`,
        type: sql<ChangeType>`type`,
        row: sql<number | null>`row`,
        id: sql<string>`id`,
        at: sql<number>`at`,
        chars: sql<number>`chars`,
        detailChars: sql<number>`coalesce((
          select coalesce(octet_length(details), 0) + coalesce(octet_length(metadata), 0)
            from call_details where type = 'call.changed' and call_details.seq = row), 0)`,
      })
      .from(changesAfter(projectId, after, rows))
      .orderBy(sql`seq`)
      .prepare(),
  }
})

/**
 * The project's newest change number and its changes, in one statement, so that they are consistent. Each of the three
 * parts is read in index order, only as far as the page goes.
 */
function changesAfter(projectId: unknown, after: unknown, rows: unknown): SQL {
  const isLater = sql`project_id = ${projectId} and change_seq > ${after}`
  return sql`(select change_seq as newest from projects where id = ${projectId} and deleted_at is null) as project
    left join (
      select change_seq as seq, 'call.changed' as type, seq as row, id, updated_at as at, document_chars as chars
        from calls where ${isLater}
      union all
      select change_seq, 'knowledge.changed', seq, id, updated_at, octet_length(text)
        from knowledge_items where ${isLater}
      union all
      select change_seq, iif(kind = 'call', 'call.deleted', 'knowledge.deleted'), null, id_hash, requested_at, 0
        from erasures where ${isLater} and kind in ('call', 'item')
      order by 1 limit ${rows}) as changes on true`
}

/**
 * A project's changes, oldest first. Each record appears once, at its newest change, so a reader who follows all pages
 * ends up with the project's contents.
 */
export class Changes {
  readonly #parts: Core & ChangesParts
  /** The last page that was read of each project. */
  readonly #pages = new LRUCache<number, { name: string; page: Promise<ChangePage> }>({ max: pagesKeptMax })

  constructor(core: Core, parts: ChangesParts) {
    this.#parts = { ...core, ...parts }
  }

  /** The project's newest change number. @throws unavailable if the project was deleted */
  async newest(projectId: number): Promise<number> {
    const { read } = this.#parts.store(projectId)
    const row = await queries(read).page.get({ projectId, after: Number.MAX_SAFE_INTEGER, rows: 1 })
    if (!row) throw new ProjectWasDeleted()
    return row.newest
  }

  /**
   * Reads a page. Readers woken together share it: it is read again only after a commit. @throws unavailable if the
   * project was deleted
   */
  read(projectId: number, { after, limit }: ChangesRequest): Promise<ChangePage> {
    const name = `${this.#parts.dataVersion()} ${after} ${limit}`
    const cached = this.#pages.get(projectId)
    if (cached?.name === name) return cached.page
    const page = this.#read(projectId, { after, limit })
    this.#pages.set(projectId, { name, page })
    page.catch(() => this.#pages.delete(projectId))
    return page
  }

  async #read(projectId: number, { after, limit }: ChangesRequest): Promise<ChangePage> {
    const { read } = this.#parts.store(projectId)
    // One more row shows whether there are more.
    const rows = await queries(read).page.all({ projectId, after, rows: limit + 1 })
    const [first] = rows
    if (!first) throw new ProjectWasDeleted()
    const changes = rows
      .slice(0, limit)
      .flatMap(({ seq, ...row }) => (seq === null ? [] : [this.#toChanged(projectId, { seq, ...row })]))
    const hasMore = first.seq !== null && rows.length > limit
    // Some change numbers have no record any more, so the next page begins after the newest number.
    const next = hasMore ? changes.at(-1)?.change.seq : first.newest
    return { changes, next: Math.max(after, next ?? 0), hasMore }
  }

  /** The same, but waits up to `withinMs` while there are no changes. */
  async wait(
    projectId: number,
    { after, limit }: ChangesRequest,
    { withinMs, signal }: { withinMs: number } & Pick<Follow, 'signal'>,
  ): Promise<ChangePage> {
    const endsAt = performance.now() + withinMs
    for (let position = after; ; ) {
      const page = await this.read(projectId, { after: position, limit })
      const leftMs = endsAt - performance.now()
      if (page.changes.length > 0 || page.hasMore || leftMs <= 0) return page
      position = page.next
      const hasChanged = await this.#parts.watch.wait(projectId, position, { withinMs: leftMs, signal })
      if (!hasChanged) return page
    }
  }

  /** The changes of a page, in slices. A record deleted meanwhile is left out: its deletion comes later. */
  async *entries(
    projectId: number,
    { changes }: ChangePage,
    { include, withIds = false, admit }: EntriesOptions,
  ): AsyncGenerator<ChangeEntry[]> {
    const { calls, knowledge } = this.#parts
    const sizes = changes.map((change, at) => [at, charsOf(change, include)] as const)
    for (const slice of inSlices(sizes, sliceCharsMax)) {
      const some = slice.flatMap((at) => changes[at] ?? [])
      if (include === 'none') {
        yield some.map(({ change, id }) =>
          toEntry(change, withIds && id !== null ? `,"id":${JSON.stringify(id)}` : ''),
        )
        continue
      }
      admit?.(some.reduce((sum, change) => sum + charsOf(change, include), 0))
      const rows = rowsOf(some, 'call.changed')
      const callsByRow = await calls.documents(projectId, rows, include === 'details')
      const itemsByRow = await knowledge.documents(projectId, rowsOf(some, 'knowledge.changed'))
      yield some.flatMap(({ change, row }) => {
        if (row === null) return [toEntry(change, '')]
        const isCall = change.type === 'call.changed'
        const document = (isCall ? callsByRow : itemsByRow).get(row)
        return document === undefined ? [] : [toEntry(change, `,"${isCall ? 'call' : 'item'}":${document}`)]
      })
    }
  }

  /** Yields all changes from here on in slices, and null while there are none. */
  async *follow(
    projectId: number,
    { after, limit }: ChangesRequest,
    { everyMs, signal, ...options }: Follow,
  ): AsyncGenerator<ChangeEntry[] | null> {
    const { watch } = this.#parts
    for (let position = after; !signal.aborted; ) {
      const page = await this.read(projectId, { after: position, limit })
      yield* this.entries(projectId, page, options)
      position = page.next
      if (page.hasMore) continue
      while (!(await watch.wait(projectId, position, { withinMs: everyMs, signal }))) {
        if (signal.aborted || watch.isClosed) return
        yield null
      }
    }
  }

  #toChanged(projectId: number, { seq, type, row, id, at, ...sizes }: ChangeRow): ChangedRecord {
    const kind = type === 'call.changed' ? 'call' : 'item'
    const ref = row === null ? id : this.#parts.recordHash(projectId, kind, id)
    return {
      change: { seq, type, ref, at: new Date(at).toISOString() },
      row,
      id: row === null ? null : id,
      ...sizes,
    }
  }
}

/** The length of what is included of a record. */
export function charsOf({ chars, detailChars }: ChangedRecord, include: Include): number {
  return include === 'none' ? 0 : chars + (include === 'details' ? detailChars : 0)
}

function rowsOf(changes: readonly ChangedRecord[], type: ChangeType): number[] {
  return changes.flatMap(({ change, row }) => (change.type === type && row !== null ? [row] : []))
}

/** @param record the member with the document or the id as JSON text, or an empty text */
function toEntry(change: Change, record: string): ChangeEntry {
  return { seq: change.seq, type: change.type, json: `${JSON.stringify(change).slice(0, -1)}${record}}` }
}
