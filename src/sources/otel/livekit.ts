import type { Work } from '../../threads/time-slices.ts'
import { jsonOf } from '../../validation.ts'
import { latencyOf } from '../call-fields.ts'
import { isObject } from '../fields.ts'
import {
  byParent,
  type Framework,
  inOrder,
  type KeptAttributes,
  type KeptSpan,
  type KeyedSpan,
  keptSpan,
  modelUsage,
  numberOf,
  type Span,
  storable,
  textOf,
} from './kept-span.ts'
import { eventsOfItems, judgementsIn } from './livekit-history.ts'
import { usageTypes } from './livekit-report.ts'
import { medianMs, nameOf, type SessionEvent, toUpdate, unquoted, usageOf, usedIn } from './session-update.ts'

// Attribute names: livekit-agents/livekit/agents/telemetry/trace_types.py and, for Node, agents/src/telemetry in
// github.com/livekit. Versions before 1.7 use the names without `pii`.

const agentTurn: KeptAttributes = {
  text: ['lk.pii.response.text', 'lk.response.text'],
  input: ['lk.pii.user_input', 'lk.user_input'],
  agent: ['gen_ai.agent.name'],
  latency: ['lk.e2e_latency'],
  transcriptionDelay: ['lk.transcription_delay'],
  endOfTurnDelay: ['lk.end_of_turn_delay'],
  wasInterrupted: ['lk.interrupted'],
  generations: ['lk.generation_count'],
}
const version = { version: ['service.version', 'lk.deployment_id'] }
/** Attributes by the name of the span. */
const keptAttributes: Readonly<Record<string, KeptAttributes>> = {
  session_start: version,
  user_turn: {
    text: ['lk.pii.user_transcript', 'lk.user_transcript'],
    transcriptionDelay: ['lk.transcription_delay'],
    endOfTurnDelay: ['lk.end_of_turn_delay'],
  },
  agent_turn: agentTurn,
  // The name before version 1.3.
  assistant_turn: agentTurn,
  realtime_assistant_turn: agentTurn,
  llm_node: { text: ['lk.pii.response.text', 'lk.response.text'], firstToken: ['lk.response.ttft'] },
  tts_node: { firstByte: ['lk.response.ttfb'] },
  llm_request: modelUsage,
  realtime_inference: modelUsage,
  agent_speaking: {},
  function_tool: {
    tool: ['gen_ai.tool.name', 'lk.function_tool.name'],
    id: ['gen_ai.tool.call.id', 'lk.function_tool.id'],
    given: ['gen_ai.tool.call.arguments', 'lk.pii.function_tool.arguments', 'lk.function_tool.arguments'],
    answered: ['gen_ai.tool.call.result', 'lk.pii.function_tool.output', 'lk.function_tool.output'],
    error: ['error.type'],
    agent: ['gen_ai.agent.name'],
  },
  update_agent: { from: ['lk.previous_agent_label'], to: ['lk.agent_label'] },
  amd: { category: ['lk.amd.category'] },
  session_close: { reason: ['lk.close_reason'] },
  agent_session: {
    ...version,
    agent: ['lk.agent_name'],
    job: ['lk.job_id'],
    room: ['lk.room_sid'],
    person: ['lk.pii.sip.phoneNumber', 'lk.sip.phoneNumber'],
    own: ['lk.sip.trunkPhoneNumber'],
    sipRule: ['lk.sip.ruleID'],
    sipCall: ['lk.sip.callID'],
  },
  // Parts of a report: see livekit-report.ts.
  session_report: {
    ...version,
    agent: ['agent_name'],
    job: ['job_id'],
    room: ['room_id'],
    reason: ['reason'],
  },
  chat_item: {
    type: ['type'],
    role: ['role'],
    text: ['text'],
    wasInterrupted: ['interrupted'],
    latency: ['e2e_latency'],
    transcriptionDelay: ['transcription_delay'],
    endOfTurnDelay: ['end_of_turn_delay'],
    firstToken: ['llm_node_ttft'],
    firstByte: ['tts_node_ttfb'],
    tool: ['name'],
    given: ['arguments'],
    answered: ['output'],
    from: ['old_agent_id'],
    to: ['new_agent_id'],
  },
  llm_usage: modelUsage,
  tts_usage: modelUsage,
  stt_usage: modelUsage,
  evaluation: { judge: ['name'], verdict: ['verdict'], reasoning: ['reasoning'] },
  tag: { tag: ['name'] },
  outcome: { outcome: ['outcome'], reason: ['reason'] },
}
const agentTurns = ['agent_turn', 'assistant_turn', 'realtime_assistant_turn']

export const livekit: Framework = {
  scopes: ['livekit-agents'],
  lastSpans: [
    'session_close',
    'agent_session',
    'session_report',
    ...usageTypes,
    'evaluation',
    'tag',
    'outcome',
  ],

  keptOf(span) {
    const names = Object.hasOwn(keptAttributes, span.name) ? keptAttributes[span.name] : undefined
    if (!names) return {}
    const own = keptSpan(span, names)
    return { [span.spanId]: { ...own, values: { ...own.values, ...moreValues(span) } } }
  },

  *read(spans, { traceId, isOver }) {
    const all = inOrder(spans)
    const byName = (...names: string[]) => all.filter(({ name }) => names.includes(name))
    const reports = byName('session_report')
    const root = byName('agent_session').at(-1) ?? reports[0]
    const [userTurns, replies, items] = [byName('user_turn'), byName(...agentTurns), byName('chat_item')]
    if (!root && userTurns.length + replies.length + items.length === 0) return null
    const close = byName('session_close').at(-1)
    const [spokenEvents, writtenEvents] = [yield* eventsIn(all), eventsOfItems(items)]
    // Words may be in the history alone, as those that a model hears itself.
    const isWritten = turnsIn(writtenEvents) > turnsIn(spokenEvents)
    const requests = byName('llm_request', 'realtime_inference')
    const median = (name: string, spans: readonly KeptSpan[]) =>
      medianMs(spans, name) ?? medianMs(items, name)
    return toUpdate(spans, {
      id: traceId,
      all,
      root,
      isOver,
      closedMs: close?.startMs,
      endedReason: firstOf([close, ...reports], 'reason'),
      ...judgementsIn(all),
      isMachine: byName('amd').some((amd) => textOf(amd, 'category')?.startsWith('machine-')),
      direction: directionOf(root),
      person: textOf(root, 'person'),
      own: textOf(root, 'own'),
      agent: firstOf([root, ...reports, ...replies], 'agent') ?? firstOf(items, 'to'),
      events: isWritten ? writtenEvents : spokenEvents,
      usage: usedIn(usageTypes.some((type) => byName(type).length > 0) ? byName(...usageTypes) : requests),
      turns: replies.some((turn) => numberOf(turn, 'latency') !== undefined) ? replies : items,
      metadata: {
        jobId: firstOf([root, ...reports], 'job'),
        roomId: firstOf([root, ...reports], 'room'),
        ...usageOf(requests.length > 0 ? requests : byName('llm_usage')),
        transcriptionDelayMs: median('transcriptionDelay', userTurns),
        endOfTurnDelayMs: median('endOfTurnDelay', userTurns),
        firstTokenMs: median('firstToken', byName('llm_node')),
        firstByteMs: median('firstByte', byName('tts_node')),
      },
    })
  },
}

/** A name that any of the spans has, cut to its maximum length. */
function firstOf(spans: readonly (KeptSpan | undefined)[], name: string): string | undefined {
  return nameOf(
    spans.find((span) => textOf(span, name) !== undefined),
    name,
  )
}

/** Values that are not simply one attribute of the span. */
function moreValues({ name, attributes, events }: Span): Record<string, string> {
  if (name === 'llm_node') {
    const calls =
      attributes.get('lk.pii.response.function_calls') ?? attributes.get('lk.response.function_calls')
    return { calls: storable(JSON.stringify(callIdsOf(String(calls ?? '[]')))) }
  }
  if (name !== 'agent_session') return {}
  const linkEvent = events.find((event) => event.name === 'participant_linked')
  const kind = linkEvent?.attributes.get('lk.participant_kind')
  return kind === 'PARTICIPANT_KIND_STANDARD' ? { participant: 'web' } : {}
}

function turnsIn(events: readonly SessionEvent[]): number {
  return events.filter((event) => 'role' in event && event.text?.trim()).length
}

function callIdsOf(calls: string): string[] {
  const ids = listIn(calls).map((call) => (isObject(call) ? call.call_id : null))
  return ids.filter((id) => typeof id === 'string')
}

/** Parses a JSON list; empty if an exporter's limit has cut it off. */
function listIn(json: string): unknown[] {
  return [jsonOf(json) ?? []].flat()
}

function directionOf(root: KeptSpan | undefined) {
  if (!root) return undefined
  if (textOf(root, 'sipRule')) return 'inbound'
  if (textOf(root, 'sipCall')) return 'outbound'
  return textOf(root, 'participant') ? 'web' : undefined
}

function* eventsIn(all: readonly KeyedSpan[]): Work<SessionEvent[]> {
  const events: SessionEvent[] = []
  const children = byParent(all)
  // Whether the input of the next reply was spoken. If so, it has a span of its own and is not added again.
  let wasSpoken = false
  for (const span of all) {
    yield
    const { name, startMs: atMs } = span
    const text = textOf(span, 'text')
    if (name === 'user_turn') {
      events.push({ atMs, role: 'user', text })
      wasSpoken ||= text !== undefined
    } else if (agentTurns.includes(name)) {
      const input = textOf(span, 'input')
      if (!wasSpoken) events.push({ atMs, role: 'user', text: input })
      if (input !== undefined) wasSpoken = false
      events.push(...repliesIn(span, children.get(span.key) ?? []))
    } else if (name === 'function_tool') events.push(...toolIn(span))
    // The first agent of a session is no transfer.
    else if (name === 'update_agent' && textOf(span, 'from') && textOf(span, 'to'))
      events.push({ atMs, kind: 'transfer', name: textOf(span, 'to'), text: undefined })
  }
  return events
}

/** The span of a reply has only the text of its last step. What was said before tool calls is in the earlier steps. */
function repliesIn(turn: KeyedSpan, parts: readonly KeyedSpan[]): SessionEvent[] {
  const byName = (name: string) => parts.filter((part) => part.name === name)
  const [steps, tools] = [byName('llm_node'), byName('function_tool')]
  const [voices, played] = [byName('tts_node'), byName('agent_speaking')]
  const toolIds = new Set<unknown>(tools.map((tool) => textOf(tool, 'id')))
  const isSpoken = (step: KeptSpan) => {
    const calls = listIn(textOf(step, 'calls') ?? '[]')
    return textOf(step, 'text') !== undefined && calls.some((call) => toolIds.has(call))
  }
  const hasSteps = Number(turn.values.generations ?? 1) > 1
  const before = hasSteps ? steps.slice(0, -1).filter(isSpoken) : []
  const last = tools.length > 0 && steps.length > 1 ? steps.at(-1) : steps[0]
  const pieces = [...before, last]
  let playedMs = -1
  return pieces.map((step, at) => {
    const [isFirst, isLast] = [at === 0, at === before.length]
    const [previousMs, untilMs] = [pieces[at - 1]?.startMs, pieces[at + 1]?.startMs]
    const fromMs = (tools.length > 0 && step?.startMs) || 0
    // A tool may be so fast that the next step begins before this one is heard.
    const toPlay = within(played, fromMs, played.length < pieces.length ? untilMs : undefined)
    const speech = toPlay.find(({ startMs }) => startMs > playedMs)
    playedMs = speech?.startMs ?? playedMs
    const [voice] = within(voices, fromMs, untilMs)
    const fallback = (!isLast || tools.length > 0) && step ? step : turn
    return {
      atMs: (speech ?? fallback).startMs,
      role: 'assistant',
      text: textOf(isLast ? turn : step, 'text'),
      interrupted: isLast && turn.values.wasInterrupted === true,
      agentId: textOf(turn, 'agent'),
      latencyMs: latencyOf(
        {
          // The caller waited for the first words of a reply.
          ...(isFirst && {
            total: numberOf(turn, 'latency'),
            endOfTurn: numberOf(turn, 'endOfTurnDelay'),
            transcription: numberOf(turn, 'transcriptionDelay'),
          }),
          model: numberOf(step, 'firstToken'),
          voice: numberOf(voice, 'firstByte'),
          tool: secondsOf(within(tools, previousMs, fromMs)),
        },
        1_000,
      ),
    }
  })
}

function toolIn(tool: KeptSpan): SessionEvent[] {
  const [name, agentId] = [textOf(tool, 'tool'), textOf(tool, 'agent')]
  const answer = unquoted(textOf(tool, 'answered')) ?? textOf(tool, 'error')
  return [
    { atMs: tool.startMs, kind: 'tool_call', name, agentId, text: textOf(tool, 'given') },
    { atMs: tool.endMs, kind: 'tool_result', name, agentId, text: answer },
  ]
}

/** The spans that start within a time. */
function within<Each extends KeptSpan>(
  spans: readonly Each[],
  fromMs = 0,
  untilMs = Number.POSITIVE_INFINITY,
): Each[] {
  return spans.filter(({ startMs }) => startMs >= fromMs && startMs < untilMs)
}

/** Returns the seconds from the first start to the last end; undefined without spans. */
function secondsOf(spans: readonly KeptSpan[]): number | undefined {
  const endMs = spans.reduce((newest, span) => Math.max(newest, span.endMs), 0)
  return spans[0] && (endMs - spans[0].startMs) / 1_000
}
