import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Core } from '../../core/core.ts'
import { type AppError, unavailable } from '../../errors.ts'
import { allOf, filterOf, type TagFilter } from '../../text/tags.ts'
import { withLabels } from '../chunking/passage-text.ts'
import type { Embedder } from '../embedding/embedder.ts'
import type { VectorSearch } from '../indexing/index/project-index.ts'
import type { VectorHit } from '../indexing/index/rows.ts'
import type { VectorIndex } from '../indexing/index/vector-index.ts'
import type { SearchHit, SearchRequest } from '../schemas.ts'
import { type ExplainedSearch, explain, type SearchResult } from './explain.ts'
import { fuse, nearestCount, nearnessOf, type Ranked, scoreRanks } from './fusion.ts'
import { KeywordSearch } from './keyword.ts'
import { type MergedPassage, mergePassages } from './merge-passages.ts'
import { labelsOfItems, readPassages } from './passages.ts'
import { QueryVectors } from './query-vectors.ts'
import { TaggedLabels } from './tagged-labels.ts'

const limitDefault = 5
/** Searches at once. Further ones are refused, because their answers would come too late. */
const underWayMax = 256
/** A query without a letter, digit or symbol has no meaning. */
const meaningPattern = /[\p{L}\p{N}\p{S}]/u
const timeoutMsDefault = 300
/** A search that waits for longer than this share of its time before it begins looks at fewer passages. */
const hurriedShare = 0.1
/** Reserved for building the answer when the vectors are late. */
const answeringMs = 5
const quotedPattern = /^["'“„«].+["'”“»]$/su
/** From this nearness on, a passage is as near as an answer: with MiniLM, the median of answers is 0.46 to 0.67. */
const nearAnswer = 2 / 3
/** Chunks that are read for each passage at first: nearly always, these are enough. */
const chunksPerPassage = 2
/** After this many attempts that a change interrupted, the answer is what the last one found. */
const attemptsMax = 5
const projectsMax = 10_000

interface SearchParts {
  embedder: Embedder
  index: VectorIndex
}

const now = () => performance.now()

/** Finds passages for an agent during a call, by meaning and by words, within a deadline. */
export class Search {
  readonly #parts: Core & SearchParts
  readonly #keyword: KeywordSearch
  readonly #queryVectors: QueryVectors
  readonly #taggedLabels: TaggedLabels
  /** The last replacement of chunks that a search has seen, by project. */
  readonly #replacedSeqs = new LRUCache<number, number>({ max: projectsMax })
  #underWay = 0

  constructor(core: Core, parts: SearchParts) {
    this.#parts = { ...core, ...parts }
    this.#keyword = new KeywordSearch({ store: core.store, now })
    this.#queryVectors = new QueryVectors(parts.embedder)
    this.#taggedLabels = new TaggedLabels(core.store)
  }

  /** Whether the next search is refused. */
  get isFull(): boolean {
    return this.#underWay >= underWayMax
  }

  /** @param within the tags that limit it beside the request's own. @throws unavailable when too many searches are under way */
  async search(projectId: number, request: SearchRequest, within: TagFilter = []): Promise<SearchResult> {
    if (this.isFull) throw tooManySearches()
    this.#underWay++
    try {
      const { tags, tagsMatch } = request
      return await this.#searchUnchanged(projectId, request, allOf(within, filterOf(tags, tagsMatch)))
    } finally {
      this.#underWay--
    }
  }

  /**
   * Searches again when chunks were replaced meanwhile: the lists may be older than the passages, and have neither the
   * old chunks of an item nor its new ones.
   */
  async #searchUnchanged(
    projectId: number,
    request: SearchRequest,
    filter: TagFilter,
  ): Promise<SearchResult> {
    const startedAt = now()
    for (let attempt = 1; ; attempt++) {
      const lastSeq = this.#replacedSeqs.get(projectId) ?? 0
      const { replacedSeq, ...result } = await this.#search(projectId, request, {
        startedAt,
        lastSeq,
        filter,
      })
      if (replacedSeq === lastSeq || attempt === attemptsMax) return result
      this.#replacedSeqs.set(projectId, replacedSeq)
    }
  }

  async #search(
    projectId: number,
    request: SearchRequest,
    { startedAt, lastSeq, filter }: { startedAt: number; lastSeq: number; filter: TagFilter },
  ): Promise<SearchResult & { replacedSeq: number }> {
    const { store } = this.#parts
    const { query, itemIds, limit = limitDefault, timeoutMs = timeoutMsDefault } = request
    const requestedMode = request.mode ?? 'hybrid'
    const candidates = candidatesFor(limit)
    const enough = requestedMode === 'hybrid' ? this.#wordsEnough(query, limit) : 0
    const starts = { keyword: 0, fusion: 0 }
    const shares = { keyword: 0, embedding: 0, vector: 0, fusion: 0, total: 0 }
    const labels = itemIds
      ? await labelsOfItems(store(projectId).readForSearch, projectId, itemIds, filter)
      : await this.#taggedLabels.of(projectId, filter)

    const askIndex = () => this.#byVector(projectId, query, candidates, { labels, replacedSeq: lastSeq })
    const byKeyword = async () => {
      const from = now()
      starts.keyword = from - startedAt
      const inHurry = from - startedAt > hurriedShare * timeoutMs
      const atLeast = inHurry ? limit : candidates
      const result = await this.#keyword.search(projectId, query, { labels, inHurry, atLeast })
      shares.keyword = now() - from
      return result
    }
    let byVector = requestedMode === 'keyword' || enough > 0 ? null : askIndex()
    // Requests that arrived together all start their deadlines and embeddings before the first of them goes on.
    await setImmediate()
    const waitedMs = now() - startedAt
    const early = requestedMode === 'vector' ? null : await byKeyword()
    if (early && early.labels.length < enough) byVector = askIndex()
    // The answer will wait for the event loop again, probably as long as the search did.
    const leftMs = timeoutMs - Math.max(answeringMs, waitedMs) - (now() - startedAt)
    const late = () => sleep(Math.max(1, leftMs), null, { ref: false })
    const nearest = byVector && (await Promise.race([byVector, late()]))
    shares.embedding = nearest?.embeddingMs ?? 0
    shares.vector = nearest?.tookMs ?? 0
    const words = early ?? (nearest ? nothing : await byKeyword())

    const fusingFrom = now()
    starts.fusion = fusingFrom - startedAt
    const hits = nearest?.hits ?? []
    const vectorLabels = nearest && hits.map(({ label }) => label)
    const ranked =
      enough > 0
        ? scoreRanks([...new Set([...words.labels, ...(vectorLabels ?? [])])])
        : fuse(hits, words.labels)
    const { merged, replacedSeq } = await this.#merge(projectId, ranked, limit)
    shares.fusion = now() - fusingFrom
    shares.total = now() - startedAt
    const mode = byVector === null || nearest ? requestedMode : 'keyword'
    const keywordLabels = mode === 'vector' ? null : words.labels
    const data = merged.map((passage) => toHit(passage, keywordLabels, vectorLabels))
    const nearness = nearnessOf(hits)
    // Words alone decide where they were enough, or nothing is known of meaning.
    const nearnessAt = new Map(enough > 0 ? [] : hits.map(({ label }, at) => [label, nearness[at] ?? 0]))
    const covered = (byWords: number, near = 0) =>
      nearnessAt.size === 0 ? byWords : coverageOf(words.coverage === null ? null : byWords, near)
    const coverage = words.coverage === null ? null : covered(words.coverage, nearness[0])
    const coverages = merged.map(({ labels }) =>
      rounded(
        Math.max(...labels.map((label) => covered(words.coverages.get(label) ?? 0, nearnessAt.get(label)))),
      ),
    )
    return {
      answer: {
        data,
        mode,
        tookMs: rounded(shares.total),
        coverage: coverage === null ? null : rounded(coverage),
      },
      shares,
      starts,
      keywordLabels,
      vectorLabels,
      replacedSeq,
      passageLabels: merged.map(({ labels }) => labels),
      coverages,
    }
  }

  async explain(projectId: number, request: SearchRequest): Promise<ExplainedSearch> {
    return explain(await this.search(projectId, request), request.query)
  }

  /** How much of a question the text of an item covers, 0 to 1, without its name; null for a question without a word. */
  async textCoverage(projectId: number, query: string, itemId: string): Promise<number | null> {
    const labels = await labelsOfItems(this.#parts.store(projectId).readForSearch, projectId, [itemId])
    const limits = { labels, inHurry: false, byTextAlone: true }
    const { coverage } = await this.#keyword.search(projectId, query, limits)
    return coverage === null ? null : rounded(coverage)
  }

  /** The stems of a query's words that fewer than one in a hundred of the project's passages have. */
  rareStems(projectId: number, query: string): Promise<string[]> {
    return this.#keyword.rareStems(projectId, query)
  }

  close(): void {
    this.#queryVectors.close()
  }

  /** How many passages found by words make the vector index needless; 0 if it is always asked. */
  #wordsEnough(query: string, limit: number): number {
    if (this.#parts.embedder.isLexical) return limit
    return isName(query.trim()) ? 1 : 0
  }

  /** Null when the query cannot be embedded or the index cannot be searched. */
  async #byVector(
    projectId: number,
    query: string,
    candidates: number,
    options: VectorSearch,
  ): Promise<{ hits: VectorHit[]; embeddingMs: number; tookMs: number } | null> {
    const { index, log } = this.#parts
    const startedAt = now()
    // All vectors are equally near to that of a query without meaning.
    if (!meaningPattern.test(query)) return { hits: [], embeddingMs: 0, tookMs: 0 }
    try {
      const vector = await this.#queryVectors.of(projectId, query)
      const embeddingMs = now() - startedAt
      const limit = Math.max(nearestCount, candidates)
      const hits = await index.search(projectId, vector, limit, options)
      return { hits, embeddingMs, tookMs: now() - startedAt }
    } catch (error) {
      // Keyword search answers alone, on time, and `mode` says so.
      log.debug({ error }, 'Answered by keyword alone')
      return null
    }
  }

  async #merge(
    projectId: number,
    ranked: readonly Ranked[],
    limit: number,
  ): Promise<{ merged: MergedPassage[]; replacedSeq: number }> {
    const result = await this.#mergeFirst(projectId, ranked.slice(0, limit * chunksPerPassage), limit)
    // The best chunks follow each other, or say the same.
    const isShort = result.merged.length < limit && ranked.length > limit * chunksPerPassage
    return isShort ? this.#mergeFirst(projectId, ranked.slice(0, candidatesFor(limit)), limit) : result
  }

  async #mergeFirst(
    projectId: number,
    ranked: readonly Ranked[],
    limit: number,
  ): Promise<{ merged: MergedPassage[]; replacedSeq: number }> {
    const { readForSearch: read } = this.#parts.store(projectId)
    const labels = ranked.map(({ label }) => label)
    // Read in one snapshot, so that a chunk and its replacement are never returned together.
    const { passages, replacedSeq } = await readPassages(read, projectId, labels)
    const byLabel = new Map(passages.map((passage) => [passage.label, passage]))
    const scored = ranked.flatMap(({ label, score }) => {
      const passage = byLabel.get(label)
      return passage ? { passage, score } : []
    })
    return { merged: mergePassages(scored, limit), replacedSeq }
  }
}

/** An id, a number or a name in quotes: its own words find it, and what is near in meaning is something else. */
function isName(query: string): boolean {
  return quotedPattern.test(query) || query.split(/\s+/).every((word) => /\d/.test(word))
}

const nothing = { labels: [], coverages: new Map<number, number>(), coverage: null }

/**
 * Half by words, which miss a paraphrase, and half by nearness, since a passage is near to every question of its subject.
 * @param byWords null for a question without a word
 */
function coverageOf(byWords: number | null, nearness: number): number {
  const byMeaning = Math.min(1, nearness / nearAnswer)
  return byWords === null ? byMeaning : (byWords + byMeaning) / 2
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

export function tooManySearches(): AppError {
  return unavailable('Too many searches are under way.')
}

/** The most chunks to read for `limit` passages: up to three become one passage, and some repeat another and are left out. */
function candidatesFor(limit: number): number {
  return limit * 3 + 5
}

function toHit(
  { passage: { itemId, name, heading, text, position }, score, labels }: MergedPassage,
  keywordLabels: readonly number[] | null,
  vectorLabels: readonly number[] | null,
): SearchHit {
  const isIn = (list: readonly number[] | null) => list?.some((label) => labels.includes(label)) ?? false
  const matched = { keyword: isIn(keywordLabels), vector: isIn(vectorLabels) }
  return { itemId, name, heading, text: withLabels(text), position, score, matched }
}
