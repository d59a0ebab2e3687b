import type { Core } from '../../core/core.ts'
import { callIdPattern } from '../../ids.ts'
import type { SearchScope } from '../../tags.ts'
import type { SearchRequest } from '../schemas.ts'
import type { SearchResult } from '../search/explain.ts'
import type { Search } from '../search/search.ts'
import type { Questions } from './questions.ts'

interface RecordedSearchParts {
  search: Pick<Search, 'search'>
  questions: Pick<Questions, 'add' | 'addRead'>
}

/** The search that agents use. It counts their questions, and keeps them if the project's settings say so. */
export class RecordedSearch {
  readonly #parts: Core & RecordedSearchParts

  constructor(core: Core, parts: RecordedSearchParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * @param scope see `within` in ../tags.ts
   * @param callId the platform's id of the call in which the agent asks; ignored if it is not an id
   * @throws unavailable when too many searches are under way
   */
  async search(scope: SearchScope, request: SearchRequest, callId: unknown = null): Promise<SearchResult> {
    const { search, questions, metrics } = this.#parts
    const result = await search.search(scope.projectId, request, scope.tags)
    metrics.observeSearch(result.answer)
    questions.add(scope, request.query, result.answer, isCallId(callId) ? callId : null)
    return result
  }

  /** Says that the agent has read an item whole. @param callId as above */
  noteRead(projectId: number, itemId: string, callId: unknown): void {
    if (isCallId(callId)) this.#parts.questions.addRead({ projectId, itemId, callId })
  }
}

function isCallId(callId: unknown): callId is string {
  return typeof callId === 'string' && callIdPattern.test(callId)
}
