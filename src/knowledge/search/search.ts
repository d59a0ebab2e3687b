import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { StoreOf } from '../../db/store.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { withLabels } from '../chunking/passage-text.ts'
import type { Embedder } from '../embedding/embedder.ts'
import type { VectorIndex } from '../index/vector-index.ts'
import type { SearchHit, SearchRequest } from '../schemas.ts'
import { type ExplainedSearch, explain, type SearchResult } from './explain.ts'
import { fuseRanks, type RankedList } from './fusion.ts'
import { KeywordSearch } from './keyword.ts'
import { type MergedPassage, mergePassages } from './merge-passages.ts'
import { labelsOfItems, type Passage, readPassages } from './passages.ts'
import { QueryVectors } from './query-vectors.ts'

const limitDefault = 5
/** Searches at once. Further ones are refused, because their answers would come too late. */
const underWayMax = 256
/** A query without a letter, digit or symbol has no meaning. */
const meaningPattern = /[\p{L}\p{N}\p{S}]/u
const timeoutMsDefault = 300
/** A search that waits for longer than this share of its time before it begins looks at fewer passages. */
const hurriedShare = 0.1
/** The time to put the answer together when the vectors are late. */
const answeringMs = 5
/** Hits taken from the vector index before the lists are fused. */
const vectorCandidatesMin = 50

interface SearchOptions {
  store: StoreOf
  embedder: Embedder
  index: VectorIndex
  metrics: Pick<Metrics, 'observeSearch'>
  log: Pick<Log, 'debug'>
}

/** Milliseconds of a monotonic clock. */
const now = () => performance.now()

/** Finds passages for an agent during a call, by meaning and by words, within a deadline. */
export class Search {
  readonly #options: SearchOptions
  readonly #keyword: KeywordSearch
  readonly #queryVectors: QueryVectors
  #underWay = 0

  constructor(options: SearchOptions) {
    this.#options = options
    this.#keyword = new KeywordSearch({ store: options.store, now })
    this.#queryVectors = new QueryVectors(options.embedder)
  }

  /** Whether the next search is refused. */
  get isFull(): boolean {
    return this.#underWay >= underWayMax
  }

  /** @throws unavailable when too many searches are under way */
  async search(projectId: number, request: SearchRequest): Promise<SearchResult> {
    if (this.isFull) throw tooManySearches()
    this.#underWay++
    try {
      return await this.#search(projectId, request)
    } finally {
      this.#underWay--
    }
  }

  async #search(projectId: number, request: SearchRequest): Promise<SearchResult> {
    const { embedder, metrics, store } = this.#options
    const { query, itemIds, limit = limitDefault, timeoutMs = timeoutMsDefault } = request
    const startedAt = now()
    const wanted = request.mode ?? 'hybrid'
    const candidates = candidatesFor(limit)
    const shares = { keyword: 0, embedding: 0, vector: 0, fusion: 0, total: 0 }
    const labels = itemIds && (await labelsOfItems(store(projectId).read, projectId, itemIds))

    const byVector = wanted === 'keyword' ? null : this.#byVector(projectId, query, candidates, labels)
    const byKeyword = async () => {
      const from = now()
      const inHurry = from - startedAt > hurriedShare * timeoutMs
      const atLeast = inHurry ? limit : candidates
      const hits = await this.#keyword.search(projectId, query, { labels, inHurry, atLeast })
      shares.keyword = now() - from
      return hits
    }
    // Requests that arrived together all start their deadlines and embeddings before the first of them goes on.
    await setImmediate()
    const waitedMs = now() - startedAt
    const early = wanted === 'vector' ? null : await byKeyword()
    // The answer will have to wait for its turn again, probably as long as the search did.
    const leftMs = timeoutMs - Math.max(answeringMs, waitedMs) - (now() - startedAt)
    const late = () => sleep(Math.max(1, leftMs), null, { ref: false })
    const nearest = byVector && (await Promise.race([byVector, late()]))
    shares.embedding = nearest?.embeddingMs ?? 0
    shares.vector = nearest?.tookMs ?? 0
    const found = early ?? (nearest ? { labels: [], passages: [] } : await byKeyword())

    const fusingFrom = now()
    const lists: RankedList[] = []
    if (nearest) lists.push({ labels: nearest.labels, weight: embedder.rankWeight })
    if (found.labels.length > 0) lists.push({ labels: found.labels, weight: 1 })
    const merged = await this.#merge(projectId, lists, found.passages, limit)
    shares.fusion = now() - fusingFrom
    shares.total = now() - startedAt
    const mode = nearest ? wanted : 'keyword'
    metrics.observeSearch({ mode, tookMs: shares.total })
    return {
      answer: { data: merged.map(toHit), mode, tookMs: Math.round(shares.total * 100) / 100 },
      shares,
      keywordLabels: mode === 'vector' ? null : found.labels,
      vectorLabels: nearest?.labels ?? null,
      passageLabels: merged.map(({ labels }) => labels),
    }
  }

  async explain(projectId: number, request: SearchRequest): Promise<ExplainedSearch> {
    return explain(await this.search(projectId, request))
  }

  close(): void {
    this.#queryVectors.close()
  }

  /** Labels, best first; null when the query cannot be embedded or the index cannot be searched. */
  async #byVector(
    projectId: number,
    query: string,
    candidates: number,
    labels: number[] | undefined,
  ): Promise<{ labels: number[]; embeddingMs: number; tookMs: number } | null> {
    const { index, log } = this.#options
    const startedAt = now()
    // All vectors are equally near to that of a query without meaning.
    if (!meaningPattern.test(query)) return { labels: [], embeddingMs: 0, tookMs: 0 }
    try {
      const vector = await this.#queryVectors.of(query)
      const embeddingMs = now() - startedAt
      const hits = await index.search(projectId, vector, Math.max(vectorCandidatesMin, candidates), labels)
      return { labels: hits.map(({ label }) => label), embeddingMs, tookMs: now() - startedAt }
    } catch (error) {
      // Keyword search answers alone, on time, and `mode` says so.
      log.debug({ error }, 'Answered by keyword alone')
      return null
    }
  }

  async #merge(
    projectId: number,
    lists: readonly RankedList[],
    known: readonly Passage[],
    limit: number,
  ): Promise<MergedPassage[]> {
    const ranked = fuseRanks(lists).slice(0, candidatesFor(limit))
    const byLabel = new Map(known.map((passage) => [passage.label, passage]))
    const missing = ranked.flatMap(({ label }) => (byLabel.has(label) ? [] : label))
    const { read } = this.#options.store(projectId)
    for (const passage of await readPassages(read, projectId, missing)) byLabel.set(passage.label, passage)
    const scored = ranked.flatMap(({ label, score }) => {
      const passage = byLabel.get(label)
      return passage ? { passage, score } : []
    })
    return mergePassages(scored, limit)
  }
}

export function tooManySearches(): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail: 'Too many searches are under way.',
    retryAfterSeconds: 1,
  })
}

/** Chunks to read for `limit` passages: up to three become one passage, and some repeat another and are left out. */
function candidatesFor(limit: number): number {
  return limit * 3 + 5
}

function toHit({ passage: { itemId, name, heading, text, position }, score }: MergedPassage): SearchHit {
  return { itemId, name, heading, text: withLabels(text), position, score }
}
