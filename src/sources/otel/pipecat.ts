import type { Work } from '../../threads/time-slices.ts'
import { agentOf, engagementIn, isoTime, latencyOf, updateOf, withoutUnknown } from '../facts.ts'
import { isObject } from '../fields.ts'
import {
  type Facts,
  type Framework,
  inOrder,
  type Kept,
  type KeyedFact,
  numberOf,
  type Span,
  storable,
  textOf,
  toFact,
} from './fact.ts'
import { callIdOf, durationOf, medianMs, nameOf, Said, toldIn, unquoted, usageOf } from './said.ts'

// Attribute names: src/pipecat/utils/tracing/service_attributes.py in github.com/pipecat-ai/pipecat.

const model: Kept = {
  text: ['output'],
  model: ['gen_ai.request.model'],
  inputTokens: ['gen_ai.usage.input_tokens'],
  outputTokens: ['gen_ai.usage.output_tokens'],
  firstToken: ['metrics.ttfb'],
}
/** In how many answers of the model before it, and in how many of their characters, a spoken text is looked for. */
const answersMax = 10
const answerCharsMax = 65_536
/** How much of a spoken text is looked for. */
const spokenCharsMax = 100
/** By the name of the span. */
const kept: Readonly<Record<string, Kept>> = {
  conversation: { conversation: ['conversation.id'] },
  turn: {
    conversation: ['conversation.id'],
    latency: ['turn.user_bot_latency_seconds'],
    wasInterrupted: ['turn.was_interrupted'],
  },
  stt: { text: ['transcript'], isFinal: ['is_final'], transcriptionDelay: ['metrics.ttfb'] },
  llm: model,
  tts: { text: ['text'], firstByte: ['metrics.ttfb'] },
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

  factsOf(span) {
    const names = Object.hasOwn(kept, span.name) ? kept[span.name] : undefined
    if (!names || span.attributes.get('is_final') === false) return {}
    const fact = toFact(span, names)
    const isOfSession = span.name === 'turn' || span.name === 'conversation'
    const service = isOfSession && !span.service?.startsWith('unknown_service') ? span.service : undefined
    const values = service ? { ...fact.values, service: storable(service) } : fact.values
    return { [span.spanId]: { ...fact, values }, ...toolFactsOf(span) }
  },

  *read(facts, { isOver }) {
    const all = inOrder(facts)
    const named = (...names: string[]) => all.filter(({ name }) => names.includes(name))
    const sessions = named('turn', 'conversation')
    const id = sessions.flatMap((fact) => textOf(fact, 'conversation') ?? [])[0]
    if (id === undefined) return null
    const told = toldIn(facts)
    const root = named('conversation').at(-1)
    const isCompleted = root !== undefined || isOver
    const startMs = root?.startMs ?? all[0]?.startMs ?? 0
    const newestMs = all.reduce((newest, { endMs }) => Math.max(newest, endMs), 0)
    const said = yield* saidIn(all)
    const { transcript, timeline } = said.inOrder(startMs)
    const models = named('llm', 'llm_response')
    return updateOf(
      callIdOf(told.id ?? id),
      {
        status: isCompleted ? 'completed' : 'live',
        // A later request could not correct it, so it waits until the start is known.
        createdAt: isCompleted ? isoTime(startMs) : undefined,
        duration: isCompleted ? durationOf(startMs, root?.endMs ?? newestMs) : undefined,
        callerNumber: told.callerNumber,
        calledNumber: told.calledNumber,
        isEngaged: isCompleted ? engagementIn(transcript) : undefined,
        transcript,
        occurredAt: isoTime(newestMs),
      },
      {
        agent: agentOf(undefined, told.agent ?? sessions.flatMap((fact) => textOf(fact, 'service') ?? [])[0]),
        direction: told.direction,
        costUsd: told.costUsd,
        latencyMs: medianMs(named('turn'), 'latency'),
        timeline,
        metadata: withoutUnknown({
          ...usageOf(models),
          transcriptionDelayMs: medianMs(named('stt'), 'transcriptionDelay'),
          firstTokenMs: medianMs(models, 'firstToken'),
          firstByteMs: medianMs(named('tts'), 'firstByte'),
          ...told.metadata,
        }),
      },
    )
  },
}

function* saidIn(all: readonly KeyedFact[]): Work<Said> {
  const said = new Said()
  // Consecutive spans within a turn are one message.
  let heard: KeyedFact[] = []
  const end = () => {
    const words = heard.flatMap((segment) => textOf(segment, 'text') ?? [])
    said.say(heard[0]?.startMs ?? 0, 'user', words.join(' '))
    heard = []
  }
  for (const fact of all) {
    yield
    const isNext = fact.name === 'stt' && (heard[0]?.parent ?? fact.parent) === fact.parent
    if (fact.name === 'tts' || (fact.name === 'stt' && !isNext)) end()
    if (fact.name === 'stt') heard.push(fact)
  }
  end()
  yield* addReplies(said, all)
  yield* addTools(said, all)
  return said
}

/** Before version 1.6, a `tts` span often has only the last sentence, so the text of the `llm` span is used. */
function* addReplies(said: Said, all: readonly KeyedFact[]): Work<void> {
  const turns = turnsIn(all)
  const isVoiced = all.some(({ name }) => name === 'tts')
  const done = new Set<KeyedFact>()
  const replies: { fact: KeyedFact; answer: KeyedFact | undefined; turn: Turn; isFirst: boolean }[] = []
  for (const fact of all) {
    yield
    const text = textOf(fact, 'text')
    const turn = turns.get(fact.parent)
    if (!turn || text === undefined) continue
    if (fact.name === 'llm') turn.answers = recent([...turn.answers, fact])
    if (fact.name === 'stt') turn.heard = fact
    if (fact.name !== (isVoiced ? 'tts' : 'llm_response')) continue
    const start = text.slice(0, spokenCharsMax)
    const answer = turn.answers.findLast((each) => textOf(each, 'text')?.includes(start))
    if (answer && done.has(answer)) continue
    if (answer) done.add(answer)
    replies.push({ fact, answer, turn, isFirst: turn.last === undefined })
    turn.last = fact
  }
  for (const { fact, answer, turn, isFirst } of replies) {
    said.say(fact.startMs, 'assistant', textOf(answer ?? fact, 'text'), {
      interrupted: turn.wasInterrupted && turn.last === fact,
      latencyMs: latencyOf(
        {
          // The caller waited for the first words of a turn.
          total: isFirst ? numberOf(turn.span, 'latency') : undefined,
          transcription: isFirst ? numberOf(turn.heard, 'transcriptionDelay') : undefined,
          model: numberOf(answer ?? fact, 'firstToken'),
          voice: numberOf(fact, 'firstByte'),
        },
        1_000,
      ),
    })
  }
}

/** What is known of a turn, by the id of its span, which comes after those of its parts. */
interface Turn {
  span: KeyedFact | undefined
  wasInterrupted: boolean
  /** The newest answers of the model so far. */
  answers: readonly KeyedFact[]
  /** What was heard last, and what was said last. */
  heard: KeyedFact | undefined
  last: KeyedFact | undefined
}

function turnsIn(all: readonly KeyedFact[]): Map<string, Turn> {
  const spans = all.filter(({ name }) => name === 'turn')
  const newest = spans.at(-1)
  const turns = new Map<string, Turn>()
  const add = (id: string, span?: KeyedFact) => {
    // The last turn of every session says that it was interrupted.
    const wasInterrupted = span !== newest && span?.values.wasInterrupted === true
    turns.set(id, { span, wasInterrupted, answers: [], heard: undefined, last: undefined })
  }
  for (const { parent } of all) if (!turns.has(parent)) add(parent)
  for (const span of spans) add(span.key, span)
  return turns
}

/** The newest answers, of bounded length together. */
function recent(answers: readonly KeyedFact[]): readonly KeyedFact[] {
  let chars = 0
  return answers
    .slice(-answersMax)
    .toReversed()
    .filter((answer, back) => {
      chars += textOf(answer, 'text')?.length ?? 0
      return back === 0 || chars <= answerCharsMax
    })
    .toReversed()
}

function* addTools(said: Said, all: readonly KeyedFact[]): Work<void> {
  let askedMs: number | null = null
  for (const fact of all) {
    yield
    const { name, startMs, endMs } = fact
    const call = { kind: 'tool_call' as const, name: nameOf(fact, 'tool'), text: textOf(fact, 'given') }
    const answered = unquoted(textOf(fact, 'answered'))
    const result = { kind: 'tool_result' as const, name: call.name, text: answered }
    if (name === 'llm_tool_call') said.add({ ...call, atMs: startMs })
    if (name === 'llm_tool_result') said.add({ ...result, atMs: endMs })
    if (name === 'llm') askedMs = endMs
    if (name !== 'tool') continue
    // The model's previous answer called the tool; the input of this one has the result.
    said.add({ ...call, atMs: Math.min(askedMs ?? startMs, startMs) })
    said.add({ ...result, atMs: startMs })
  }
}

/**
 * The tools in the input of a model. Each input repeats all earlier messages, so each tool has a key of its own, and the
 * earliest span that has it counts: see `addEarliest`.
 */
function toolFactsOf(span: Span): Facts {
  if (span.name !== 'llm') return {}
  const facts: Record<string, Facts[string]> = {}
  const counts = new Map<string, number>()
  const { parentSpanId: parent, startMs } = span
  for (const { id, ...values } of toolsIn(messagesOf(span.attributes.get('input')))) {
    const nth = counts.get(id) ?? 0
    counts.set(id, nth + 1)
    const fact = { name: 'tool', startMs, endMs: startMs, parent, values }
    facts[`tool ${storable(id).slice(0, 200)} ${nth}`] = fact
  }
  return facts
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
      const { name, arguments: given } = isObject(call.function) ? call.function : {}
      ask({ id: String(call.id), tool: storable(String(name)), given: storable(textIn(given)) })
    }
    if (message.role === 'tool') answer(message.tool_call_id, message.content)
    for (const part of objectsIn(message.content)) {
      if (part.type === 'tool_use')
        ask({
          ...{ id: String(part.id), tool: storable(String(part.name)) },
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

function messagesOf(input: unknown): Record<string, unknown>[] {
  try {
    return objectsIn(JSON.parse(String(input ?? '[]')))
  } catch {
    // An exporter's limit has cut it off.
    return []
  }
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
