import { callIdPattern } from '../../ids.ts'
import type { SearchRequest } from '../schemas.ts'
import type { SearchResult } from '../search/explain.ts'
import type { Search } from '../search/search.ts'
import type { Questions } from './questions.ts'

/** Vapi sends it to MCP servers; other platforms send what they are told to. */
const callHeader = 'x-call-id'

/** The search that agents use: their questions are kept where the project says so, behind the answer. */
export class AskedSearch {
  readonly #search: Pick<Search, 'search'>
  readonly #questions: Pick<Questions, 'add'>

  constructor({ search, questions }: { search: Pick<Search, 'search'>; questions: Pick<Questions, 'add'> }) {
    this.#search = search
    this.#questions = questions
  }

  /**
   * @param callId the platform's id of the call in which it is asked, as the request says it
   * @throws unavailable when too many searches are under way
   */
  async search(projectId: number, request: SearchRequest, callId: unknown = null): Promise<SearchResult> {
    const result = await this.#search.search(projectId, request)
    const isId = typeof callId === 'string' && callIdPattern.test(callId)
    this.#questions.add(projectId, request.query, result.answer, isId ? callId : null)
    return result
  }
}

/** The id of the call in which a request is sent, where its headers have one. */
export function callIdOf({ headers }: Request): string | null {
  return headers.get(callHeader)
}
