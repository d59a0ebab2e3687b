import { AppError } from '../../errors.ts'
import type { AskedSearch } from '../questions/asked-search.ts'
import {
  callIdIn,
  parametersOf,
  queryOf,
  type ToolCall,
  toDocument,
  toFailure,
  toolCallsOf,
  toResult,
} from './vapi.ts'
import type {
  VapiKnowledgeAnswer,
  VapiKnowledgeRequest,
  VapiToolRequest,
  VapiToolResult,
} from './vapi-schemas.ts'

export interface LookUpOptions {
  search: Pick<AskedSearch, 'search'>
  /** Called for every failed search. The request still gets an answer. */
  onFailure: (error: unknown) => void
}

/** The passages for the user's last turn. @throws invalid_request if there is no conversation */
export async function findDocuments(
  { search, onFailure }: LookUpOptions,
  projectId: number,
  body: VapiKnowledgeRequest,
): Promise<VapiKnowledgeAnswer> {
  const query = queryOf(body)
  if (query === null) return { documents: [] }
  try {
    const { answer } = await search.search(projectId, { query }, callIdIn(body))
    return { documents: answer.data.map(toDocument) }
  } catch (error) {
    // The phone call goes on, with what the model knows.
    onFailure(error)
    return { documents: [] }
  }
}

/** A result or an error for each tool call. @throws invalid_request if there is no list of calls */
export async function answerCalls(
  options: LookUpOptions,
  projectId: number,
  body: VapiToolRequest,
): Promise<VapiToolResult[]> {
  // In parallel, since a caller on the phone waits for all of them.
  return await Promise.all(
    toolCallsOf(body).map((call) => answerCall(options, projectId, call, callIdIn(body))),
  )
}

async function answerCall(
  { search, onFailure }: LookUpOptions,
  projectId: number,
  call: ToolCall,
  callId: unknown,
): Promise<VapiToolResult> {
  try {
    const { answer } = await search.search(projectId, parametersOf(call), callId)
    return toResult(call, answer.data)
  } catch (error) {
    // The answer stays 200: Vapi reads no results from other answers, and other calls have theirs.
    if (!(error instanceof AppError && error.code === 'invalid_request')) onFailure(error)
    return toFailure(call, error)
  }
}
