import type { Work } from '../../threads/time-slices.ts'
import { agentOf, engagementIn, isoTime, latencyOf, numbersOf, updateOf, withoutUnknown } from '../facts.ts'
import { isObject } from '../fields.ts'
import {
  type Fact,
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

// Attribute names: livekit-agents/livekit/agents/telemetry/trace_types.py and, for Node, agents/src/telemetry in
// github.com/livekit. Versions before 1.7 use the names without `pii`.

const agentTurn: Kept = {
  text: ['lk.pii.response.text', 'lk.response.text'],
  input: ['lk.pii.user_input', 'lk.user_input'],
  agent: ['gen_ai.agent.name'],
  latency: ['lk.e2e_latency'],
  transcriptionDelay: ['lk.transcription_delay'],
  endOfTurnDelay: ['lk.end_of_turn_delay'],
  wasInterrupted: ['lk.interrupted'],
  generations: ['lk.generation_count'],
}
const usage: Kept = {
  model: ['gen_ai.request.model'],
  inputTokens: ['gen_ai.usage.input_tokens'],
  outputTokens: ['gen_ai.usage.output_tokens'],
}
/** By the name of the span. */
const kept: Readonly<Record<string, Kept>> = {
  session_start: {},
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
  llm_request: usage,
  realtime_inference: usage,
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
    agent: ['lk.agent_name'],
    job: ['lk.job_id'],
    room: ['lk.room_sid'],
    person: ['lk.pii.sip.phoneNumber', 'lk.sip.phoneNumber'],
    own: ['lk.sip.trunkPhoneNumber'],
    sipRule: ['lk.sip.ruleID'],
    sipCall: ['lk.sip.callID'],
  },
}
const agentTurns = ['agent_turn', 'assistant_turn', 'realtime_assistant_turn']

export const livekit: Framework = {
  scopes: ['livekit-agents'],
  lastSpans: ['session_close', 'agent_session'],

  factsOf(span) {
    const names = Object.hasOwn(kept, span.name) ? kept[span.name] : undefined
    if (!names) return {}
    const fact = toFact(span, names)
    return { [span.spanId]: { ...fact, values: { ...fact.values, ...moreValues(span) } } }
  },

  *read(facts, { traceId, isOver }) {
    const session = new Session(facts)
    const root = session.named('agent_session').at(-1)
    if (!root && !session.hasTurns) return null
    const told = toldIn(facts)
    const isCompleted = root !== undefined || isOver
    const startMs = root?.startMs ?? session.startMs
    const close = session.named('session_close').at(-1)
    const said = yield* session.said()
    const { transcript, timeline } = said.inOrder(startMs)
    const direction = told.direction ?? directionOf(root)
    const numbers = numbersOf(direction, {
      person: textOf(root, 'person'),
      own: textOf(root, 'own'),
    })
    const endMs = (root && close?.startMs) ?? root?.endMs ?? session.endMs
    const agent = told.agent ?? textOf(root, 'agent') ?? session.firstAgent
    return updateOf(
      callIdOf(told.id ?? traceId),
      {
        status: isCompleted ? 'completed' : 'live',
        // A later request could not correct it, so it waits until the start is known.
        createdAt: isCompleted ? isoTime(startMs) : undefined,
        duration: isCompleted ? durationOf(startMs, endMs) : undefined,
        endedReason: textOf(close, 'reason'),
        callerNumber: told.callerNumber ?? numbers.callerNumber,
        calledNumber: told.calledNumber ?? numbers.calledNumber,
        isEngaged: isCompleted ? engagementIn(transcript, session.isMachine) : undefined,
        transcript,
        occurredAt: isoTime(session.endMs),
      },
      {
        agent: agentOf(undefined, agent),
        direction,
        costUsd: told.costUsd,
        latencyMs: medianMs(session.named(...agentTurns), 'latency'),
        timeline,
        metadata: withoutUnknown({ ...session.metadata(root), ...told.metadata }),
      },
    )
  },
}

/** Values that are not simply one attribute of the span. */
function moreValues({ name, attributes, events }: Span): Record<string, string> {
  if (name === 'llm_node') {
    const calls =
      attributes.get('lk.pii.response.function_calls') ?? attributes.get('lk.response.function_calls')
    return { calls: storable(JSON.stringify(callIdsOf(String(calls ?? '[]')))) }
  }
  if (name !== 'agent_session') return {}
  const linked = events.find((event) => event.name === 'participant_linked')
  const kind = linked?.attributes.get('lk.participant_kind')
  return kind === 'PARTICIPANT_KIND_STANDARD' ? { participant: 'web' } : {}
}

function callIdsOf(calls: string): string[] {
  const ids = listIn(calls).map((call) => (isObject(call) ? call.call_id : null))
  return ids.filter((id) => typeof id === 'string')
}

/** Parses a JSON list; empty if an exporter's limit has cut it off. */
function listIn(json: string): unknown[] {
  try {
    return [JSON.parse(json)].flat()
  } catch {
    return []
  }
}

function directionOf(root: Fact | undefined) {
  if (!root) return undefined
  if (textOf(root, 'sipRule')) return 'inbound'
  if (textOf(root, 'sipCall')) return 'outbound'
  return textOf(root, 'participant') ? 'web' : undefined
}

/** The facts of a session, in order. Never searched once for each fact, since a session may have very many. */
class Session {
  readonly all: readonly KeyedFact[]
  readonly #parts = new Map<string, KeyedFact[]>()

  constructor(facts: Facts) {
    this.all = inOrder(facts)
    for (const fact of this.all) {
      const parts = this.#parts.get(fact.parent)
      if (parts) parts.push(fact)
      else this.#parts.set(fact.parent, [fact])
    }
  }

  named(...names: string[]): KeyedFact[] {
    return this.all.filter(({ name }) => names.includes(name))
  }

  get hasTurns(): boolean {
    return this.named('user_turn', ...agentTurns).length > 0
  }

  get startMs(): number {
    return this.all[0]?.startMs ?? 0
  }

  get endMs(): number {
    return this.all.reduce((newest, { endMs }) => Math.max(newest, endMs), 0)
  }

  get firstAgent(): string | undefined {
    return this.named(...agentTurns).flatMap((turn) => textOf(turn, 'agent') ?? [])[0]
  }

  get isMachine(): boolean {
    return this.named('amd').some((amd) => textOf(amd, 'category')?.startsWith('machine-'))
  }

  *said(): Work<Said> {
    const said = new Said()
    // Whether the input of the next reply was spoken. If so, it has a span of its own and is not added again.
    let wasSpoken = false
    for (const turn of this.named('user_turn', ...agentTurns)) {
      yield
      const [text, input] = [textOf(turn, 'text'), textOf(turn, 'input')]
      if (turn.name === 'user_turn') {
        said.say(turn.startMs, 'user', text)
        wasSpoken ||= text !== undefined
        continue
      }
      if (input !== undefined) {
        if (!wasSpoken) said.say(turn.startMs, 'user', input)
        wasSpoken = false
      }
      this.#sayReply(said, turn)
    }
    for (const tool of this.named('function_tool')) addTool(said, tool)
    for (const update of this.named('update_agent')) {
      const name = nameOf(update, 'to')
      // The first agent of a session is no transfer.
      if (name && textOf(update, 'from')) said.add({ atMs: update.startMs, kind: 'transfer', name })
    }
    return said
  }

  /** The span of a reply has only the text of its last step. What was said before tool calls is in the earlier steps. */
  #sayReply(said: Said, turn: KeyedFact): void {
    const parts = this.#parts.get(turn.key) ?? []
    const ofParts = (name: string) => parts.filter((part) => part.name === name)
    const steps = ofParts('llm_node')
    const tools = ofParts('function_tool')
    const toolIds = new Set<unknown>(tools.map((tool) => textOf(tool, 'id')))
    const isSaid = (step: Fact) => {
      const calls = listIn(textOf(step, 'calls') ?? '[]')
      return textOf(step, 'text') !== undefined && calls.some((call) => toolIds.has(call))
    }
    const hasSteps = Number(turn.values.generations ?? 1) > 1
    const before = hasSteps ? steps.slice(0, -1).filter(isSaid) : []
    const last = tools.length > 0 && steps.length > 1 ? steps.at(-1) : steps[0]
    const used = new Queue(tools)
    const [voices, played] = [new Queue(ofParts('tts_node')), new Queue(ofParts('agent_speaking'))]
    const pieces = [...before, last]
    for (const [at, step] of pieces.entries()) {
      const [isFirst, isLast] = [at === 0, at === before.length]
      const untilMs = pieces[at + 1]?.startMs
      const fromMs = (tools.length > 0 && step?.startMs) || 0
      const fallback = (!isLast || tools.length > 0) && step ? step : turn
      said.say(
        (played.from(fromMs, played.size < pieces.length ? untilMs : undefined) ?? fallback).startMs,
        'assistant',
        textOf(isLast ? turn : step, 'text'),
        {
          interrupted: isLast && turn.values.wasInterrupted === true,
          agentId: nameOf(turn, 'agent'),
          latencyMs: latencyOf(
            {
              // The caller waited for the first words of a reply.
              total: isFirst ? numberOf(turn, 'latency') : undefined,
              endOfTurn: isFirst ? numberOf(turn, 'endOfTurnDelay') : undefined,
              transcription: isFirst ? numberOf(turn, 'transcriptionDelay') : undefined,
              model: numberOf(step, 'firstToken'),
              voice: numberOf(voices.from(fromMs, untilMs), 'firstByte'),
              tool: secondsOf(used.before(fromMs)),
            },
            1_000,
          ),
        },
      )
    }
  }

  metadata(root: Fact | undefined): Record<string, unknown> {
    const turns = this.named('user_turn')
    return {
      jobId: root && nameOf(root, 'job'),
      roomId: root && nameOf(root, 'room'),
      ...usageOf(this.named('llm_request', 'realtime_inference')),
      transcriptionDelayMs: medianMs(turns, 'transcriptionDelay'),
      endOfTurnDelayMs: medianMs(turns, 'endOfTurnDelay'),
      firstTokenMs: medianMs(this.named('llm_node'), 'firstToken'),
      firstByteMs: medianMs(this.named('tts_node'), 'firstByte'),
    }
  }
}

function addTool(said: Said, tool: Fact): void {
  const [name, agentId] = [nameOf(tool, 'tool'), nameOf(tool, 'agent')]
  said.add({ atMs: tool.startMs, kind: 'tool_call', name, text: textOf(tool, 'given'), agentId })
  const text = unquoted(textOf(tool, 'answered')) ?? textOf(tool, 'error')
  said.add({ atMs: tool.endMs, kind: 'tool_result', name, text, agentId })
}

/** Takes facts in order of time, each once. */
class Queue {
  readonly #facts: readonly Fact[]
  #at = 0

  constructor(facts: readonly Fact[]) {
    this.#facts = facts
  }

  get size(): number {
    return this.#facts.length
  }

  /** Takes those that start before a time. */
  before(ms: number): readonly Fact[] {
    const first = this.#at
    while ((this.#facts[this.#at]?.startMs ?? ms) < ms) this.#at++
    return this.#facts.slice(first, this.#at)
  }

  /** Takes the first that starts within a time. */
  from(ms: number, untilMs = Number.POSITIVE_INFINITY): Fact | undefined {
    this.before(ms)
    const next = this.#facts[this.#at]
    if (!next || next.startMs >= untilMs) return undefined
    this.#at++
    return next
  }
}

/** From the first start to the last end; undefined without facts. */
function secondsOf(facts: readonly Fact[]): number | undefined {
  const endMs = facts.reduce((newest, fact) => Math.max(newest, fact.endMs), 0)
  return facts[0] && (endMs - facts[0].startMs) / 1_000
}
