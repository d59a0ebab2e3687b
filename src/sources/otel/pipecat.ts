import type { Work } from '../../threads/time-slices.ts'
import { jsonOf } from '../../validation.ts'
import { type EventUsage, latencyOf, sumOfKnown } from '../call-fields.ts'
import { isObject } from '../fields.ts'
import {
  byParent,
  type Framework,
  inOrder,
  type KeptAttributes,
  type KeptSpans,
  type KeyedSpan,
  keptSpan,
  modelUsage,
  numberOf,
  type Span,
  storable,
  textOf,
} from './kept-span.ts'
import { medianMs, type SessionEvent, toUpdate, unquoted, usageOf, usedIn } from './session-update.ts'

// Attribute names: src/pipecat/utils/tracing/service_attributes.py in github.com/pipecat-ai/pipecat.

const model: KeptAttributes = { ...modelUsage, text: ['output'], firstToken: ['metrics.ttfb'] }
/** Providers whose input tokens are without those of the cache. */
const netOfCache = /anthropic|bedrock/i
/** In how many answers of the model before it, and in how much of each, a spoken text is looked for. */
const answersMax = 10
const answerCharsMax = 6_000
/** How much of a spoken text is looked for. */
const spokenCharsMax = 100
/** Attributes by the name of the span. */
const keptAttributes: Readonly<Record<string, KeptAttributes>> = {
  conversation: { conversation: ['conversation.id'], version: ['service.version'] },
  turn: {
    conversation: ['conversation.id'],
    version: ['service.version'],
    latency: ['turn.user_bot_latency_seconds'],
    wasInterrupted: ['turn.was_interrupted'],
  },
  // Of any `is_final`: most services never set it, and interim results have no spans.
  stt: { ...modelUsage, text: ['transcript'], transcriptionDelay: ['metrics.ttfb'] },
  llm: model,
  tts: { ...modelUsage, text: ['text'], firstByte: ['metrics.ttfb'] },
  // Speech-to-speech models.
  llm_response: model,
  llm_tool_call: {
    tool: ['tool.function_name'],
    id: ['tool.call_id'],
    given: ['tool.arguments'],
  },
  llm_tool_result: { tool: ['tool.function_name'], id: ['tool.call_id'], answered: ['tool.result'] },
}

export const pipecat: Framework = {
  scopes: ['pipecat', 'pipecat.turn'],
  lastSpans: ['conversation'],

  keptOf(span) {
    const names = Object.hasOwn(keptAttributes, span.name) ? keptAttributes[span.name] : undefined
    if (!names) return {}
    const own = keptSpan(span, names)
    const isOfSession = span.name === 'turn' || span.name === 'conversation'
    const service = isOfSession && !span.service?.startsWith('unknown_service') ? span.service : undefined
    const values = service ? { ...own.values, service: storable(service) } : own.values
    return { [span.spanId]: { ...own, values }, ...toolSpansOf(span) }
  },

  *read(spans, { isOver }) {
    const all = inOrder(spans)
    const byName = (...names: string[]) => all.filter(({ name }) => names.includes(name))
    const sessions = byName('turn', 'conversation')
    const id = sessions.flatMap((span) => textOf(span, 'conversation') ?? [])[0]
    if (id === undefined) return null
    const models = byName('llm', 'llm_response')
    return toUpdate(spans, {
      id,
      all,
      root: byName('conversation').at(-1),
      isOver,
      agent: sessions.flatMap((span) => textOf(span, 'service') ?? [])[0],
      events: yield* eventsIn(all, byName('turn')),
      usage: usedIn([...models, ...byName('tts', 'stt')]).map(withCache),
      turns: byName('turn'),
      metadata: {
        ...usageOf(models),
        transcriptionDelayMs: medianMs(byName('stt'), 'transcriptionDelay'),
        firstTokenMs: medianMs(models, 'firstToken'),
        firstByteMs: medianMs(byName('tts'), 'firstByte'),
      },
    })
  },
}

/** Input tokens include those of the cache. */
function withCache(usage: EventUsage): EventUsage {
  const { inputTokens, cachedTokens, cacheWriteTokens, provider = '' } = usage
  if (!netOfCache.test(provider)) return usage
  return { ...usage, inputTokens: sumOfKnown(inputTokens, cachedTokens, cacheWriteTokens) }
}

function* eventsIn(all: readonly KeyedSpan[], turns: readonly KeyedSpan[]): Work<SessionEvent[]> {
  const events: SessionEvent[] = []
  const byKey = new Map(turns.map((turn) => [turn.key, turn]))
  const voice = all.some(({ name }) => name === 'tts') ? 'tts' : 'llm_response'
  for (const [parent, parts] of byParent(all)) {
    const turn = byKey.get(parent)
    // The last turn of every session says that it was interrupted.
    const wasInterrupted = turn !== turns.at(-1) && turn?.values.wasInterrupted === true
    events.push(...(yield* turnEventsIn(parts, { turn, voice, wasInterrupted })))
  }
  events.push(...(yield* toolsUsed(all)))
  return events
}

/** What was said in a turn. @param voice the name of the spans with what the agent said */
function* turnEventsIn(
  parts: readonly KeyedSpan[],
  { turn, voice, wasInterrupted }: { turn: KeyedSpan | undefined; voice: string; wasInterrupted: boolean },
): Work<SessionEvent[]> {
  const events: SessionEvent[] = []
  const replies: { span: KeyedSpan; answer: KeyedSpan | undefined }[] = []
  const repliedTurns = new Set<KeyedSpan>()
  /** The newest answers of the model so far, the newest first. */
  let answers: KeyedSpan[] = []
  // Consecutive spans are one message.
  let message: { atMs: number; role: 'user'; text: string } | null = null
  let question: KeyedSpan | undefined
  for (const span of parts) {
    yield
    const text = textOf(span, 'text')
    if (text === undefined) continue
    if (span.name === 'stt') {
      question = span
      if (message) message.text += ` ${text}`
      else {
        message = { atMs: span.startMs, role: 'user', text }
        events.push(message)
      }
    }
    if (span.name === 'tts') message = null
    if (span.name === 'llm') answers = [span, ...answers].slice(0, answersMax)
    if (span.name !== voice) continue
    // Before version 1.6, a `tts` span often has only the last sentence, so the text of the `llm` span is used.
    const start = text.slice(0, spokenCharsMax)
    const answer = answers.find((each) => textOf(each, 'text')?.slice(0, answerCharsMax).includes(start))
    if (answer && repliedTurns.has(answer)) continue
    if (answer) repliedTurns.add(answer)
    replies.push({ span, answer })
  }
  for (const [at, { span, answer }] of replies.entries()) {
    const latencies = {
      // The caller waited for the first words of a turn.
      ...(at === 0 && {
        total: numberOf(turn, 'latency'),
        transcription: numberOf(question, 'transcriptionDelay'),
      }),
      model: numberOf(answer ?? span, 'firstToken'),
      voice: numberOf(span, 'firstByte'),
    }
    events.push({
      atMs: span.startMs,
      role: 'assistant',
      text: textOf(answer ?? span, 'text'),
      interrupted: wasInterrupted && at === replies.length - 1,
      latencyMs: latencyOf(latencies, 1_000),
    })
  }
  return events
}

function* toolsUsed(all: readonly KeyedSpan[]): Work<SessionEvent[]> {
  const events: SessionEvent[] = []
  let askedMs: number | null = null
  for (const span of all) {
    yield
    const { name, startMs, endMs } = span
    const tool = textOf(span, 'tool')
    const call = { kind: 'tool_call' as const, name: tool, text: textOf(span, 'given') }
    const result = { kind: 'tool_result' as const, name: tool, text: unquoted(textOf(span, 'answered')) }
    if (name === 'llm_tool_call') events.push({ ...call, atMs: startMs })
    if (name === 'llm_tool_result') events.push({ ...result, atMs: endMs })
    if (name === 'llm') askedMs = endMs
    if (name !== 'tool') continue
    // The model's previous answer called the tool; the input of this one has the result.
    events.push({ ...call, atMs: Math.min(askedMs ?? startMs, startMs) }, { ...result, atMs: startMs })
  }
  return events
}

/**
 * The tools in the input of a model. Each input repeats all earlier messages, so each tool has a key of its own, and the
 * earliest span that has it counts: see `isBetter`.
 */
function toolSpansOf(span: Span): KeptSpans {
  if (span.name !== 'llm') return {}
  const tools: Record<string, KeptSpans[string]> = {}
  const counts = new Map<string, number>()
  const { parentSpanId: parent, startMs } = span
  for (const { id, ...values } of toolsIn(messagesOf(span.attributes.get('input')))) {
    const nth = counts.get(id) ?? 0
    counts.set(id, nth + 1)
    const tool = { name: 'tool', startMs, endMs: startMs, parent, values }
    tools[`tool ${storable(id).slice(0, 200)} ${nth}`] = tool
  }
  return tools
}

interface Tool {
  id: string
  tool: string
  given: string
  answered?: string
}

/** The tools with a result, in messages in the format of OpenAI or Anthropic. Others are still running. */
function toolsIn(messages: readonly Record<string, unknown>[]): Tool[] {
  const tools: Tool[] = []
  /** Tools without a result, by id: a conversation may use very many. */
  const open = new Map<unknown, Tool[]>()
  const ask = (tool: Tool) => {
    tools.push(tool)
    const others = open.get(tool.id)
    if (others) others.push(tool)
    else open.set(tool.id, [tool])
  }
  const answer = (id: unknown, content: unknown) => {
    // Pipecat writes this for a tool that is still running.
    if (content === 'IN_PROGRESS') return
    const tool = open.get(id)?.pop()
    if (tool) tool.answered = storable(textIn(content))
  }
  for (const message of messages) {
    for (const call of objectsIn(message.tool_calls)) {
      const { name, arguments: argumentsText } = isObject(call.function) ? call.function : {}
      ask({ id: String(call.id), tool: storable(String(name)), given: storable(textIn(argumentsText)) })
    }
    if (message.role === 'tool') answer(message.tool_call_id, message.content)
    for (const part of objectsIn(message.content)) {
      if (part.type === 'tool_use')
        ask({
          id: String(part.id),
          tool: storable(String(part.name)),
          given: storable(textIn(part.input)),
        })
      if (part.type === 'tool_result') answer(part.tool_use_id, part.content)
    }
  }
  return tools.filter(({ answered }) => answered !== undefined)
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Returns no messages if an exporter's limit has cut the input off. */
function messagesOf(input: unknown): Record<string, unknown>[] {
  return objectsIn(jsonOf(String(input ?? '[]')))
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
