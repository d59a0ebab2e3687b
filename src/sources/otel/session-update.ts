import { jsonOf } from '../../validation.ts'
import {
  agentOf,
  Conversation,
  cut,
  type DoneKind,
  type EntryDetails,
  type EventUsage,
  engagementOf,
  latencyOf,
  medianOf,
  numbersOf,
  updateOf,
  withoutUnknown,
} from '../call-fields.ts'
import { type SourceDetails, type SourceTurn, type SourceUpdate, usageCounts } from '../event.ts'
import {
  type KeptSpan,
  type KeptSpans,
  type KeyedSpan,
  metadataPrefix,
  numberOf,
  textOf,
} from './kept-span.ts'

const modelsMax = 20
/** How much metadata users may set, so that it fits beside that of others. */
const userMetadataBytesMax = 49_152
const directions: NonNullable<SourceDetails['direction']>[] = ['inbound', 'outbound', 'web']

/** Something said or done in a session. */
export type SessionEvent = EntryDetails & { atMs: number; text: string | undefined } & (
    | { role: SourceTurn['role'] }
    | { kind: DoneKind; name: string | undefined }
  )

/** What a framework's spans tell about a session. */
interface SessionParts {
  /** The call's id, unless the user has set another. */
  id: string
  all: readonly KeyedSpan[]
  /** The span of the whole session, which arrives last. */
  root: KeyedSpan | undefined
  /** Whether no span has arrived for a long time. */
  isOver: boolean
  /** When the session began to close, which takes seconds. */
  closedMs?: number | undefined
  endedReason?: string | undefined
  evaluation?: string | undefined
  callAnalysis?: Record<string, unknown> | undefined
  isMachine?: boolean
  direction?: SourceDetails['direction']
  /** The phone numbers of the person and of the agent. */
  person?: string | undefined
  own?: string | undefined
  agent: string | undefined
  usage: EventUsage[]
  /** The events, in any order. */
  events: SessionEvent[]
  /** The spans with the latency of a turn. */
  turns: readonly KeptSpan[]
  metadata: Record<string, unknown>
}

/** What is known of a call from its session, and from what users have set on its spans. */
export function toUpdate(
  spans: KeptSpans,
  { id, all, root, isOver, ...session }: SessionParts,
): SourceUpdate {
  const attribute = (name: string) => textOf(spans[`callbook.${name}`], `callbook.${name}`)
  const isCompleted = root !== undefined || isOver
  const startMs = root?.startMs ?? all[0]?.startMs ?? 0
  const newestMs = all.reduce((newest, { endMs }) => Math.max(newest, endMs), 0)
  const endMs = (root && session.closedMs) ?? root?.endMs ?? newestMs
  const conversation = conversationOf(session.events, startMs)
  const direction = directions.find((each) => each === attribute('direction')) ?? session.direction
  const { person, own } = session
  const stated = spans['callbook.agent_version']?.values['callbook.agent_version']
  const version = stated ?? all.find(({ values }) => values.version)?.values.version
  const numbers = numbersOf(direction, { person, own })
  return updateOf(
    callIdOf(attribute('call.id') ?? id),
    {
      status: isCompleted ? 'completed' : 'live',
      // A later request could not correct it, so it waits until the start is known.
      createdAt: isCompleted ? startMs : undefined,
      duration: isCompleted ? Math.round(endMs - startMs) / 1_000 : undefined,
      endedReason: session.endedReason,
      evaluation: session.evaluation,
      callAnalysis: session.callAnalysis,
      callerNumber: attribute('caller_number') ?? numbers.callerNumber,
      calledNumber: attribute('called_number') ?? numbers.calledNumber,
      isEngaged: engagementOf(isCompleted && session.isMachine === true),
      transcript: conversation.transcript,
      occurredAt: newestMs,
    },
    {
      agent: agentOf(undefined, attribute('agent') ?? session.agent, version),
      direction,
      costUsd: costIn(spans),
      usage: session.usage,
      latencyMs: medianMs(session.turns, 'latency'),
      timeline: conversation.timeline,
      metadata: withoutUnknown({ ...session.metadata, ...userMetadataIn(spans) }),
    },
  )
}

function conversationOf(events: SessionEvent[], startMs: number): Conversation {
  const conversation = new Conversation()
  for (const event of events.sort((a, b) => a.atMs - b.atMs)) {
    const atSeconds = Math.max(0, Math.round((event.atMs - startMs) * 1_000) / 1_000_000)
    if ('role' in event) conversation.say(event.role, event.text, atSeconds, event)
    else conversation.use(event.kind, event.name, atSeconds, event)
  }
  return conversation
}

/** A name or an id, cut to its maximum length. */
export function nameOf(span: KeptSpan | undefined, name: string): string | undefined {
  const text = textOf(span, name)
  return text && cut(text)
}

/** The median of a value that the spans have in seconds, in milliseconds. */
export function medianMs(spans: readonly KeptSpan[], name: string): number | undefined {
  return latencyOf({ total: medianOf(spans.flatMap((span) => numberOf(span, name) ?? [])) }, 1_000).total
}

/** The tokens and models of model requests. */
export function usageOf(requests: readonly KeptSpan[]) {
  const sum = (name: string) =>
    requests.reduce((total, request) => total + Math.max(0, numberOf(request, name) ?? 0), 0) || undefined
  const models = new Set(requests.flatMap((request) => nameOf(request, 'model') ?? []))
  models.delete('unknown')
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    models: [...models].sort().slice(0, modelsMax),
  }
}

/** What spans tell of the use of models: their names tell its kind. */
export function usedIn(spans: readonly KeptSpan[]): EventUsage[] {
  return spans.map((span) => ({
    kind: (['stt', 'tts'] as const).find((kind) => span.name.startsWith(kind)) ?? 'llm',
    provider: textOf(span, 'provider'),
    model: textOf(span, 'model'),
    ...Object.fromEntries(usageCounts.map((name) => [name, numberOf(span, name)])),
  }))
}

function costIn(spans: KeptSpans): number | undefined {
  const cost = spans['callbook.cost_usd']?.values['callbook.cost_usd'] ?? ''
  const costUsd = typeof cost === 'boolean' || cost === '' ? Number.NaN : Number(cost)
  return Number.isFinite(costUsd) ? costUsd : undefined
}

function userMetadataIn(spans: KeptSpans): Record<string, unknown> {
  let bytes = 0
  const members = Object.entries(spans)
    .filter(([key]) => key.startsWith(metadataPrefix))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { values }]) => [key.slice(metadataPrefix.length), values[key]] as const)
    .filter((member) => {
      bytes += Buffer.byteLength(JSON.stringify(member))
      return bytes <= userMetadataBytesMax
    })
  return Object.fromEntries(members)
}

/** A valid call id: other characters become `_`. */
export function callIdOf(text: string): string {
  const id = text.slice(0, 128).replace(/[^A-Za-z0-9._:-]/g, '_')
  return /^\.{0,2}$/.test(id) ? `_${id}` : id
}

/** The text of a result that is a JSON string; other results stay as they are. */
export function unquoted(json: string | undefined): string | undefined {
  // Plain text may begin with a quotation mark, too.
  const value = json?.startsWith('"') ? jsonOf(json) : undefined
  return typeof value === 'string' ? value : json
}
