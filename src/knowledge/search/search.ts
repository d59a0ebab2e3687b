import { setImmediate } from 'node:timers/promises'
import type { StoreOf } from '../../db/store.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
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
/** Searches under way; beyond it one is refused at once, since it would come too late anyway. */
const underWayMax = 256
/** What a query needs one of to say anything: a letter, a digit or a symbol. */
const sayingPattern = /[\p{L}\p{N}\p{S}]/u
const timeoutMsDefault = 300
/** Share of its time after which a search that has not begun, since many came at once, looks at less. */
const hurriedShare = 0.1
/** Kept for putting the answer together when the vectors have not come in time. */
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
function now(): number {
  return performance.now()
}

/** What an agent asks during a call: passages by meaning and by words, within a deadline. */
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

  /** Whether one more would be refused. */
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
    const { metrics, store } = this.#options
    const startedAt = now()
    const { read } = store(projectId)
    const wanted = request.mode ?? 'hybrid'
    const limit = request.limit ?? limitDefault
    const candidates = candidatesFor(limit)
    const shares = { keyword: 0, embedding: 0, vector: 0, fusion: 0, total: 0 }
    const labels = request.itemIds && (await labelsOfItems(read, projectId, request.itemIds))

    const byVector = wanted === 'keyword' ? null : this.#byVector(projectId, request, { labels, candidates })
    const timeoutMs = request.timeoutMs ?? timeoutMsDefault
    const byKeyword = async () => {
      const from = now()
      const inHurry = from - startedAt > hurriedShare * timeoutMs
      const passages = await this.#keyword.search(projectId, request.query, {
        labels,
        inHurry,
        atLeast: inHurry ? limit : candidates,
      })
      shares.keyword = now() - from
      return passages
    }
    // Requests that arrived with this one set their deadlines and ask for their vectors first.
    await setImmediate()
    const waitedMs = now() - startedAt
    const early = wanted === 'vector' ? null : await byKeyword()
    // The answer will have to wait for its turn again, about as long as the search did.
    const leftMs = timeoutMs - Math.max(answeringMs, waitedMs) - (now() - startedAt)
    const nearest = byVector && (await withinTime(Math.max(1, leftMs), byVector))
    shares.embedding = nearest?.embeddingMs ?? 0
    shares.vector = nearest?.tookMs ?? 0
    const passages = early ?? (nearest ? [] : await byKeyword())

    const fusingFrom = now()
    const lists: RankedList[] = []
    if (nearest) lists.push({ labels: nearest.labels, weight: wanted === 'vector' ? 1 : this.#vectorWeight })
    if (passages.length > 0) lists.push({ labels: passages.map(({ label }) => label), weight: 1 })
    const merged = await this.#merge(projectId, lists, passages, limit)
    shares.fusion = now() - fusingFrom
    shares.total = now() - startedAt
    const mode = nearest ? wanted : 'keyword'
    metrics.observeSearch({ mode, tookMs: shares.total })
    return {
      answer: { data: merged.map(toHit), mode, tookMs: Math.round(shares.total * 100) / 100 },
      report: {
        shares,
        keywordLabels: wanted === 'vector' && nearest ? null : passages.map(({ label }) => label),
        vectorLabels: nearest?.labels ?? null,
        passageLabels: merged.map(({ labels }) => labels),
      },
    }
  }

  async explain(projectId: number, request: SearchRequest): Promise<ExplainedSearch> {
    return explain(await this.search(projectId, request))
  }

  close(): void {
    this.#queryVectors.close()
  }

  get #vectorWeight(): number {
    return this.#options.embedder.rankWeight
  }

  /** Labels best first; null when there are none to be had. */
  async #byVector(
    projectId: number,
    { query }: SearchRequest,
    { labels, candidates }: { labels: number[] | undefined; candidates: number },
  ): Promise<{ labels: number[]; embeddingMs: number; tookMs: number } | null> {
    const { index, log } = this.#options
    const startedAt = now()
    // Every vector is as near to that of nothing as any other.
    if (!sayingPattern.test(query)) return { labels: [], embeddingMs: 0, tookMs: 0 }
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

/** Chunks that may be needed for so many passages, as up to three become one and a few are left out. */
function candidatesFor(limit: number): number {
  return limit * 3 + 5
}

/** Null when the work takes longer; the work itself goes on. */
function withinTime<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), timeoutMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function toHit({ passage, score }: MergedPassage): SearchHit {
  const { itemId, name, heading, text, position } = passage
  return { itemId, name, heading, text, position, score }
}
