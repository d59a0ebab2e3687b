import { agentOf, isoTime, numbersOf, updateOf, withoutUnknown } from '../facts.ts'
import { isObject } from '../fields.ts'
import {
  type Fact,
  type Facts,
  type Framework,
  inOrder,
  type Kept,
  type KeyedFact,
  type Span,
  storable,
  textOf,
  toFact,
} from './fact.ts'
import { callIdOf, durationOf, medianMs, nameOf, ownWords, Said, unquoted, usageOf } from './said.ts'

// Attribute names: livekit-agents/livekit/agents/telemetry/trace_types.py and, for Node, agents/src/telemetry in
// github.com/livekit. Versions before 1.7 use the names without `pii`.

const agentTurn: Kept = {
  text: ['lk.pii.response.text', 'lk.response.text'],
  input: ['lk.pii.user_input', 'lk.user_input'],
  agent: ['gen_ai.agent.name'],
  latency: ['lk.e2e_latency'],
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

  factsOf(span) {
    const names = Object.hasOwn(kept, span.name) ? kept[span.name] : undefined
    if (!names) return {}
    const fact = toFact(span, names)
    return { [span.spanId]: { ...fact, values: { ...fact.values, ...moreValues(span) } } }
  },

  read(facts, { traceId, isOver }) {
    const session = new Session(facts)
    const root = session.named('agent_session').at(-1)
    if (!root && !session.hasTurns) return null
    const own = ownWords(session.all)
    const isCompleted = root !== undefined || isOver
    const startMs = root?.startMs ?? session.startMs
    const close = session.named('session_close').at(-1)
    const said = session.said()
    const { transcript, timeline, interruptedTurns } = said.inOrder(startMs)
    const direction = own.direction ?? directionOf(root)
    const numbers = numbersOf(direction, {
      person: root && textOf(root, 'person'),
      own: root && textOf(root, 'own'),
    })
    const endMs = (root && close?.startMs) ?? root?.endMs ?? session.endMs
    const agent = (root && textOf(root, 'agent')) ?? session.firstAgent
    return updateOf(
      callIdOf(own.id ?? traceId),
      {
        status: isCompleted ? 'completed' : 'live',
        // A later request could not correct it, so it waits until the start is known.
        createdAt: isCompleted ? isoTime(startMs) : undefined,
        duration: isCompleted ? durationOf(startMs, endMs) : undefined,
        endedReason: close && textOf(close, 'reason'),
        callerNumber: own.callerNumber ?? numbers.callerNumber,
        calledNumber: own.calledNumber ?? numbers.calledNumber,
        isEngaged: isCompleted ? said.hasUserTurn && !session.isMachine : undefined,
        transcript,
        occurredAt: isoTime(session.endMs),
      },
      {
        agent: agentOf(undefined, agent),
        direction,
        latencyMs: medianMs(session.named(...agentTurns), 'latency'),
        timeline,
        metadata: withoutUnknown({ ...session.metadata(root), interruptedTurns }),
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

  said(): Said {
    const said = new Said()
    // Whether the input of the next reply was spoken. If so, it has a span of its own and is not added again.
    let wasSpoken = false
    for (const turn of this.named('user_turn', ...agentTurns)) {
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
      const name = textOf(update, 'to')
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
    const tools = new Set<unknown>(ofParts('function_tool').map((tool) => textOf(tool, 'id')))
    const isSaid = (step: Fact) => {
      const calls = listIn(textOf(step, 'calls') ?? '[]')
      return calls.some((call) => tools.has(call))
    }
    if (Number(turn.values.generations ?? 1) > 1)
      for (const step of steps.slice(0, -1))
        if (isSaid(step)) said.say(step.startMs, 'assistant', textOf(step, 'text'))
    const first = tools.size > 0 && steps.length > 1 ? steps.at(-1) : ofParts('agent_speaking')[0]
    const wasInterrupted = turn.values.wasInterrupted === true
    said.say(first?.startMs ?? turn.startMs, 'assistant', textOf(turn, 'text'), wasInterrupted)
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
  const name = textOf(tool, 'tool')
  said.add({ atMs: tool.startMs, kind: 'tool_call', name, text: textOf(tool, 'given') })
  const text = unquoted(textOf(tool, 'answered')) ?? textOf(tool, 'error')
  said.add({ atMs: tool.endMs, kind: 'tool_result', name, text })
}
