import type { SearchHit, SearchRequest } from '../../../src/knowledge/schemas.ts'
import { type LoadRun, startLoad } from '../load-process.ts'

export interface SearchLoad {
  url: string
  key: string
  /** Sent first, as many at a time, for a few seconds at most, and not measured. */
  warmUp: SearchRequest[]
  /** Each round begins when the one before is answered. */
  rounds: SearchRequest[][]
  /** All rounds again and again until it is stopped. */
  repeats: boolean
  /** Searches under way at a time. */
  concurrency: number
  secondsMax: number
  /** Gives the answers of the last round back. */
  keepsAnswers: boolean
}

export interface SearchResult {
  latenciesMs: number[]
  /** Searches without an answer, or with another one than success. */
  failed: number
  /** How many answers were of each mode. */
  modes: Record<string, number>
  /** Milliseconds within the service by `Server-Timing`; empty when it reports none. */
  timings: Record<string, number[]>
  /** By the search's place in its round; only when they were to be kept. */
  answers: SearchHit[][]
}

const defaults = { warmUp: [], repeats: false, concurrency: 1, secondsMax: 120, keepsAnswers: false }

/** Starts searches in a closed loop; one at a time when nothing else is said. */
export function startSearching(
  load: Pick<SearchLoad, 'url' | 'key' | 'rounds'> & Partial<SearchLoad>,
): LoadRun<SearchResult> {
  return startLoad('retrieval/search-load.ts', { ...defaults, ...load } satisfies SearchLoad)
}
