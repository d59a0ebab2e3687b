import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { preparedQueries, type Store, type StoreOf } from '../db/store.ts'
import { chunkWords } from '../db/word-tables.ts'
import type { Embedder } from './embedding/embedder.ts'
import { fuseRanks } from './fusion.ts'
import type { VectorIndex } from './index/vector-index.ts'
import type { SearchAnswer, SearchHit, SearchMode, SearchRequest } from './schemas.ts'

const limitDefault = 5
const timeoutMsDefault = 300
/** Hits taken from each list before they are fused. */
const candidatesMin = 50
const queryTermsMax = 64
const cachedQueriesMax = 2_000

interface SearchOptions {
  store: StoreOf
  embedder: Embedder
  index: VectorIndex
  now: () => number
  /** Told when a list had to be left out of an answer. */
  onDegraded: (error: unknown) => void
}

const queries = preparedQueries((db) => ({
  labelsOfItems: db
    .select({ label: sql<number>`chunks.label` })
    .from(sql`json_each(${sql.placeholder('itemIds')}) wanted
      cross join knowledge_items on knowledge_items.project_id = ${sql.placeholder('projectId')}
        and knowledge_items.id = wanted.value
      cross join chunks on chunks.item_seq = knowledge_items.seq`)
    .prepare(),
  hits: db
    .select({
      label: sql<number>`chunks.label`,
      itemId: sql<string>`knowledge_items.id`,
      name: sql<string>`knowledge_items.name`,
      heading: sql<string | null>`chunks.heading`,
      text: sql<string>`chunks.text`,
      position: sql<number>`chunks.position`,
    })
    .from(sql`json_each(${sql.placeholder('labels')}) wanted
      cross join chunks on chunks.label = wanted.value and chunks.project_id = ${sql.placeholder('projectId')}
      cross join knowledge_items on knowledge_items.seq = chunks.item_seq`)
    .prepare(),
}))

/** What an agent asks during a call: passages by meaning and by words, within a deadline. */
export class Search {
  readonly #options: SearchOptions
  readonly #queryVectors = new LRUCache<string, Float32Array>({ max: cachedQueriesMax })

  constructor(options: SearchOptions) {
    this.#options = options
  }

  async search(projectId: number, request: SearchRequest): Promise<SearchAnswer> {
    const startedAt = this.#options.now()
    const store = this.#options.store(projectId)
    const limit = request.limit ?? limitDefault
    const wanted = request.mode ?? 'hybrid'
    const candidates = Math.max(candidatesMin, limit)
    const labels = request.itemIds ? await readLabels(store, projectId, request.itemIds) : undefined

    const byVector = wanted === 'keyword' ? null : this.#byVector(projectId, request, candidates, labels)
    const byKeyword =
      wanted === 'vector' ? null : await keywordLabels(store, projectId, request.query, candidates, labels)
    const vectorLabels = byVector && (await byVector)
    const lists = [
      vectorLabels,
      byKeyword ??
        (vectorLabels ? null : await keywordLabels(store, projectId, request.query, candidates, labels)),
    ]
    const used = lists.filter((list) => list !== null)

    const ranked = fuseRanks(used).slice(0, limit)
    const data = await readHits(store, projectId, ranked)
    return { data, mode: modeOf(wanted, vectorLabels !== null), tookMs: this.#options.now() - startedAt }
  }

  /** Labels best first; null when the query's vector is not there in time. */
  async #byVector(
    projectId: number,
    request: SearchRequest,
    limit: number,
    labels: number[] | undefined,
  ): Promise<number[] | null> {
    const deadline = AbortSignal.timeout(request.timeoutMs ?? timeoutMsDefault)
    try {
      const vector = await before(deadline, this.#embedQuery(request.query, deadline))
      const hits = await before(deadline, this.#options.index.search(projectId, vector, limit, labels))
      return hits.map((hit) => hit.label)
    } catch (error) {
      // Keyword search answers alone, on time, and `mode` says so.
      this.#options.onDegraded(error)
      return null
    }
  }

  async #embedQuery(query: string, signal: AbortSignal): Promise<Float32Array> {
    const key = `${this.#options.embedder.space}\n${query}`
    const cached = this.#queryVectors.get(key)
    if (cached) return cached
    const [vector] = await this.#options.embedder.embed([query], 'query', signal)
    if (!vector) throw new Error('The embedder answers one vector a text')
    this.#queryVectors.set(key, vector)
    return vector
  }
}

/** Rejects when the signal aborts first, also where the work itself does not heed it. */
function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

async function readLabels(store: Store, projectId: number, itemIds: string[]): Promise<number[]> {
  const rows = await queries(store.read).labelsOfItems.all({ projectId, itemIds: JSON.stringify(itemIds) })
  return rows.map(({ label }) => label)
}

async function keywordLabels(
  { read }: Store,
  projectId: number,
  query: string,
  limit: number,
  labels: number[] | undefined,
): Promise<number[]> {
  const match = toMatchExpression(query)
  if (match === '') return []
  const table = chunkWords(projectId)
  const filter = labels ? sql`and rowid in (select value from json_each(${JSON.stringify(labels)}))` : sql``
  const rows = await read.all<{ label: number }>(sql`
    select rowid as label from ${table} where ${table} match ${match} ${filter} order by rank limit ${limit}`)
  return rows.map(({ label }) => label)
}

/** Any of the query's words. Each is quoted, so FTS5's own syntax is text like any other. */
function toMatchExpression(query: string): string {
  const words = query.normalize('NFC').match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  const terms = [...new Set(words.map((word) => word.toLowerCase()))].slice(0, queryTermsMax)
  return terms.map((term) => `"${term}"`).join(' OR ')
}

async function readHits(
  { read }: Store,
  projectId: number,
  ranked: { label: number; score: number }[],
): Promise<SearchHit[]> {
  const labels = JSON.stringify(ranked.map(({ label }) => label))
  const rows = await queries(read).hits.all({ projectId, labels })
  const byLabel = new Map(rows.map(({ label, ...hit }) => [label, hit]))
  return ranked.flatMap(({ label, score }) => {
    const hit = byLabel.get(label)
    return hit ? [{ ...hit, score }] : []
  })
}

function modeOf(wanted: SearchMode, hasVector: boolean): SearchMode {
  if (wanted === 'keyword' || !hasVector) return 'keyword'
  return wanted
}
