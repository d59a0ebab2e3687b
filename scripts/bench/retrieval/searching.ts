import type { SearchHit, SearchRequest } from '../../../src/knowledge/schemas.ts'
import { type LoadRun, startLoad } from '../load-process.ts'

export interface SearchLoad {
  url: string
  key: string
  /** Sent first for a few seconds at most, with the same concurrency, and not measured. */
  warmUp: SearchRequest[]
  /** A round begins when all searches of the previous one are answered. */
  rounds: SearchRequest[][]
  /** Repeats all rounds until it is stopped. */
  repeats: boolean
  /** How many searches run at once. */
  concurrency: number
  secondsMax: number
  /** Whether to return the answers of the last round. */
  keepsAnswers: boolean
}

export interface SearchResult {
  latenciesMs: number[]
  /** Searches that failed or were not answered. */
  failed: number
  /** Number of answers by mode. */
  modes: Record<string, number>
  /** Milliseconds within the service by part, from `Server-Timing`; empty if it reports none. */
  timings: Record<string, number[]>
  /** By the search's position in its round; empty unless they are kept. */
  answers: SearchHit[][]
}

const defaults = { warmUp: [], repeats: false, concurrency: 1, secondsMax: 120, keepsAnswers: false }

/** Starts searches in a closed loop, by default one at a time. */
export function startSearching(
  load: Pick<SearchLoad, 'url' | 'key' | 'rounds'> & Partial<SearchLoad>,
): LoadRun<SearchResult> {
  return startLoad('retrieval/search-load.ts', { ...defaults, ...load } satisfies SearchLoad)
}
