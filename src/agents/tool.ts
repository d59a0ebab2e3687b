import { Type } from '@sinclair/typebox'
import { AppError, invalidRequest } from '../errors.ts'
import { embeddedText } from '../knowledge/chunking/chunk.ts'
import type { RecordedSearch } from '../knowledge/questions/recorded-search.ts'
import { type SearchAnswer, SearchRequest, warningsOf } from '../knowledge/schemas.ts'
import type { SearchScope } from '../tags.ts'
import { compileCheck, jsonOf, named } from '../validation.ts'
import { faultsSentence } from './error-sentence.ts'

const resultCharsMax = 8_000

/** The parameters that a model may set. `mode` and the deadline are not among them. */
export const ToolParameters = Type.Pick(SearchRequest, ['query', 'limit', 'itemIds'], {
  title: 'ToolParameters',
})
type ToolParameters = Pick<SearchRequest, 'query' | 'limit' | 'itemIds'>

export const ToolAnswer = named('ToolAnswer', {
  result: Type.String({
    description:
      'The passages, best first, at most 8,000 characters, or a sentence that says why there are none.',
    example: 'Returns › Refunds\nWe refund any order within 30 days.',
  }),
})

/** An error of a tool's route: Vapi would speak a `message` to the caller. */
export const ToolError = named('ToolError', {
  error: Type.String({ example: 'Invalid API key: The key is unknown or has been revoked.' }),
})

export interface LookUpOptions {
  search: Pick<RecordedSearch, 'search'>
  /** Called for every failed search. The request still gets an answer. */
  onFailure: (error: unknown) => void
}

/** A model's question. */
interface Question {
  /** What the model wrote: an object, or JSON text. */
  parameters: unknown
  /** Not checked yet. */
  callId: unknown
}

/** The passages for a question; a sentence for the model if the search fails, so that the call goes on. */
export async function lookUp(
  { search, onFailure }: LookUpOptions,
  scope: SearchScope,
  { parameters, callId }: Question,
): Promise<SearchAnswer | string> {
  try {
    const { answer } = await search.search(scope, parametersOf(parameters), callId)
    return answer
  } catch (error) {
    // The model can correct its own parameters, and sees nothing of other errors.
    if (error instanceof AppError && error.errors) return faultsSentence(error.errors)
    onFailure(error)
    return 'The search failed.'
  }
}

/** The result of a search as text for a model: the passages, best first. */
export async function answerTool(
  options: LookUpOptions,
  scope: SearchScope,
  question: Question,
): Promise<{ result: string }> {
  const answer = await lookUp(options, scope, question)
  if (typeof answer === 'string') return { result: answer }
  const passages = answer.data.map((hit) => embeddedText(hit.name, hit))
  const text = [...warningsOf(answer), ...passages].join('\n\n').trim()
  return { result: text === '' ? 'Nothing was found.' : text.slice(0, resultCharsMax).toWellFormed() }
}

const checkParameters = compileCheck(ToolParameters)

/** @throws invalid_request naming each bad parameter */
function parametersOf(parameters: unknown): ToolParameters {
  const values = asObject(typeof parameters === 'string' ? parse(parameters) : parameters) ?? {}
  // With a strict schema, a model writes null for a parameter that it does not set.
  const present = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
  const { query, limit, itemIds } = checkParameters(present)
  // Arguments in a JSON string were not checked with the body.
  if (!query.isWellFormed() || query.includes('\0'))
    throw invalidRequest([{ field: 'query', message: 'must be Unicode text without U+0000' }])
  return { query, ...(limit ? { limit } : {}), ...(itemIds ? { itemIds } : {}) }
}

function parse(text: string): unknown {
  const value = jsonOf(text)
  if (value !== undefined) return value
  throw invalidRequest([{ field: 'arguments', message: 'must be valid JSON' }])
}

export function asObject(value: unknown): Record<string, unknown> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : undefined
}
