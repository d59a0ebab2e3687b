import type { ToolUse } from '../calls/reading/steps.ts'
import type { Turn } from '../calls/schemas.ts'
import type { CaseContent, Message, Mock } from './schemas.ts'

// The page imports this file too, so it imports nothing but types.

/** What was said in a call, and what its tools answered in between. */
export interface Conversation {
  transcript: readonly Turn[]
  tools: readonly ToolUse[]
}

/** What a call gives of a case. */
export type CutCall = Pick<CaseContent, 'messages' | 'said' | 'mocks' | 'omitted'>

/**
 * Cuts a conversation before an answer of the agent. What the agent said directly before the turn belongs to the same
 * answer.
 * @param lastTurns how many turns before the answer are kept
 * @returns why there is no such answer, as a sentence without its subject
 */
export function cut(
  { transcript, tools }: Conversation,
  turn: number,
  lastTurns = transcript.length,
): CutCall | string {
  if (turn >= transcript.length)
    return `must be one of the ${transcript.length} turns, which are counted from 0`
  if (transcript[turn]?.role !== 'assistant') return 'must be a turn of the agent'
  const uses = tools.flatMap(toUse)
  let start = turn
  while (transcript[start - 1]?.role === 'assistant' && !uses.some(({ before }) => before === start)) start--
  if (start === 0) return 'must be a turn before which somebody spoke'
  const first = Math.max(0, start - lastTurns)
  const messages: Message[] = []
  for (let place = first; place <= start; place++) {
    // Where turns are left out, a tool's result does not stand first.
    if (place > first || first === 0)
      messages.push(...uses.filter(({ before }) => before === place).flatMap(({ messages }) => messages))
    const { role, content } = transcript[place] ?? {}
    if (place < start && role && content !== undefined) messages.push({ role, content })
  }
  const said = transcript.slice(start, turn + 1).map(({ content }) => content)
  const omitted = tools.length - uses.length
  return { messages, said: said.join('\n'), mocks: uses.map(({ mock }) => mock), omitted }
}

interface Use {
  before: number
  mock: Mock
  messages: Message[]
}

/** Nothing for a tool whose result is not kept. */
function toUse({ name, input, output, before }: ToolUse, position: number): Use[] {
  if (output === null) return []
  const tool = name ?? 'tool'
  const id = `t${position + 1}`
  const call = { name: tool, arguments: argumentsText(input) }
  return [
    {
      before,
      mock: { name: tool, arguments: argumentsOf(input), result: output },
      messages: [
        { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: call }] },
        { role: 'tool', content: output, tool_call_id: id },
      ],
    },
  ]
}

/** The arguments of a tool; null if they are no JSON object. */
export function argumentsOf(text: string | null): Record<string, unknown> | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    // Not every platform tells them as JSON.
    return null
  }
}

/** The same as the text of a JSON object, written anew if it has escapes, which could hide what is redacted. */
export function argumentsText(text: string | null): string {
  const value = argumentsOf(text)
  if (text === null || value === null) return '{}'
  return text.includes('\\') ? JSON.stringify(value) : text
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
