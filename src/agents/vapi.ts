import { invalidRequest } from '../errors.ts'
import { contextLine, embeddedText } from '../knowledge/chunking/chunk.ts'
import { type SearchAnswer, type SearchHit, warningsOf } from '../knowledge/schemas.ts'
import type { SearchScope } from '../tags.ts'
import { queryCharsMax, toQuery } from './query-text.ts'
import { asObject, type LookUpOptions, lookUp } from './tool.ts'
import type {
  VapiDocument,
  VapiKnowledgeAnswer,
  VapiKnowledgeRequest,
  VapiToolRequest,
  VapiToolResult,
} from './vapi-schemas.ts'

/** A turn with fewer words ("yes", "how much?") says too little alone, so earlier turns are added. */
const queryWordsMin = 4
const queryTurnsMax = 3

/** A tool call in any of Vapi's forms, unchecked. */
interface ToolCall {
  id: string | undefined
  name: string | undefined
  parameters: unknown
}

/** The passages for the user's last turn. @throws invalid_request if there is no conversation */
export async function findDocuments(
  { search, onFailure }: LookUpOptions,
  scope: SearchScope,
  body: VapiKnowledgeRequest,
): Promise<VapiKnowledgeAnswer> {
  const query = queryOf(body)
  if (query === null) return { documents: [] }
  try {
    const { answer, coverages } = await search.search(scope, { query }, callIdIn(body))
    return { documents: answer.data.map((hit, at) => toDocument(hit, coverages[at] ?? 0)) }
  } catch (error) {
    // The phone call goes on, with what the model knows.
    onFailure(error)
    return { documents: [] }
  }
}

/** A result or an error for each tool call. @throws invalid_request if there is no list of calls */
export async function answerCalls(
  options: LookUpOptions,
  scope: SearchScope,
  body: VapiToolRequest,
): Promise<VapiToolResult[]> {
  // In parallel, since a caller on the phone waits for all of them.
  return await Promise.all(
    toolCallsOf(body).map(async ({ id, name, parameters }) => {
      // The answer is always 200: Vapi reads no results from other answers, and other calls have theirs.
      const answer = await lookUp(options, scope, { parameters, callId: callIdIn(body) })
      const outcome = typeof answer === 'string' ? { error: inOneLine(answer) } : { result: resultOf(answer) }
      return { name, toolCallId: id, ...outcome }
    }),
  )
}

/**
 * The question: the user's last turn, with up to two before it while they have fewer than four words. Of a text that is
 * too long, the end. Null if the user has not spoken yet. @throws invalid_request if there is no conversation
 */
function queryOf({ message }: VapiKnowledgeRequest): string | null {
  const messages = message.messages ?? message.messagesOpenAIFormatted
  if (!messages) throw invalidRequest([{ field: 'message.messages', message: 'is required' }])
  const turns = messages.map(userTurn).filter((turn) => turn !== '')
  let query = turns.pop() ?? ''
  for (const turn of turns.slice(1 - queryTurnsMax).reverse()) {
    if (isShort(query)) query = `${turn} ${query}`
  }
  return query === '' ? null : toQuery(query)
}

/** The id of the phone call, unchecked. */
function callIdIn({ message }: VapiKnowledgeRequest | VapiToolRequest): unknown {
  return asObject(message.call)?.id
}

/** A passage as a document, with its name and heading for context. */
function toDocument(hit: SearchHit, similarity: number): VapiDocument {
  return {
    content: embeddedText(hit.name, hit),
    similarity,
    uuid: `${hit.itemId}:${hit.position}`,
  }
}

/** @throws invalid_request if there is no list of calls */
function toolCallsOf({ message }: VapiToolRequest): ToolCall[] {
  const lists = [message.toolCallList, message.toolCalls, message.toolWithToolCallList?.map(withoutTool)]
  const present = lists.filter((list) => list !== undefined)
  if (present.length === 0) throw invalidRequest([{ field: 'message.toolCallList', message: 'is required' }])
  return (present.find((list) => list.length > 0) ?? []).map(toToolCall)
}

/** A result must be one line: https://docs.vapi.ai/tools/custom-tools-troubleshooting */
function resultOf(answer: SearchAnswer): string {
  const passages = answer.data.map(
    (hit, at) => `(${at + 1}) ${contextLine(hit.name, hit.heading)}: ${hit.text}`,
  )
  return inOneLine([...warningsOf(answer), ...passages].join(' ')) || 'Nothing was found.'
}

/** What the user said in a message, in either of Vapi's forms; empty for any other message. */
function userTurn(message: unknown): string {
  const { role, content, message: text } = asObject(message) ?? {}
  if (role !== 'user') return ''
  return (textOf(content) || textOf(text)).trim()
}

/** A text, or the joined texts of parts such as `{type: 'text', text}`. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map((part) => asObject(part)?.text)
  return texts.filter((text) => typeof text === 'string').join(' ')
}

function isShort(text: string): boolean {
  const segments = [...wordSegmenter.segment(text.slice(-queryCharsMax))]
  return segments.filter(({ isWordLike }) => isWordLike).length < queryWordsMin
}

// Also counts words in languages without spaces between them.
const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' })

/** `toolWithToolCallList` has each call inside its tool, whose own `parameters` are a schema. */
function withoutTool(entry: unknown): unknown {
  const tool = asObject(entry)
  const call = asObject(tool?.toolCall)
  return call && { name: tool?.name ?? asObject(tool?.function)?.name, ...call }
}

function toToolCall(entry: unknown): ToolCall {
  const call = asObject(entry) ?? {}
  const { name, parameters, arguments: argumentsText } = asObject(call.function) ?? {}
  return {
    id: asText(call.id),
    name: asText(call.name ?? name),
    parameters: call.parameters ?? call.arguments ?? parameters ?? argumentsText,
  }
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function inOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
}
