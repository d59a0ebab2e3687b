import { callIdPattern } from '../../ids.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { SearchRequest } from '../schemas.ts'
import type { SearchResult } from '../search/explain.ts'
import type { Search } from '../search/search.ts'
import type { Questions } from './questions.ts'

/** Vapi sends this header to MCP servers; other platforms can be configured to. */
const callHeader = 'x-call-id'

interface RecordedSearchOptions {
  search: Pick<Search, 'search'>
  questions: Pick<Questions, 'add'>
  metrics: Pick<Metrics, 'observeSearch'>
}

/** The search that agents use. It counts their questions, and keeps them if the project's settings say so. */
export class RecordedSearch {
  readonly #options: RecordedSearchOptions

  constructor(options: RecordedSearchOptions) {
    this.#options = options
  }

  /**
   * @param callId the platform's id of the call in which the agent asks; ignored if it is not an id
   * @throws unavailable when too many searches are under way
   */
  async search(projectId: number, request: SearchRequest, callId: unknown = null): Promise<SearchResult> {
    const { search, questions, metrics } = this.#options
    const result = await search.search(projectId, request)
    metrics.observeSearch(result.answer)
    const isId = typeof callId === 'string' && callIdPattern.test(callId)
    questions.add(projectId, request.query, result.answer, isId ? callId : null)
    return result
  }
}

/** The call id in the headers of a request; null if they have none. */
export function callIdOf({ headers }: Request): string | null {
  return headers.get(callHeader)
}
