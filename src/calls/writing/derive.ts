import { readStored, toStored } from '../details.ts'
import type { Call } from '../schemas.ts'

/** The bits of `calls.derived`. One that is not set says nothing: earlier versions have set none. */
const bits = {
  /** Nobody has said these; they were derived. */
  duration: 1,
  latencyMs: 2,
  isEngaged: 4,
  /** Somebody has said that the duration is 0 of a completed call, where it otherwise means unknown. */
  saidZero: 8,
  /** The request that completed the call has named `occurredAt`. */
  namedEnd: 16,
} as const

export type DerivedMarks = Record<keyof typeof bits, boolean>

export function readMarks(derived: number): DerivedMarks {
  const isSet = (name: keyof typeof bits) => (derived & bits[name]) > 0
  return {
    duration: isSet('duration'),
    latencyMs: isSet('latencyMs'),
    isEngaged: isSet('isEngaged'),
    saidZero: isSet('saidZero'),
    namedEnd: isSet('namedEnd'),
  }
}

export function toDerived(marks: DerivedMarks): number {
  return Object.entries(bits).reduce(
    (sum, [name, bit]) => sum + (marks[name as keyof DerivedMarks] ? bit : 0),
    0,
  )
}

/** Whether it is known if the caller was engaged: somebody has said it, or it was derived. */
export function isEngagementKnown(head: { engagementStated: boolean; derived: number }): boolean {
  return head.engagementStated || readMarks(head.derived).isEngaged
}

/** Takes back from the call what was derived, so that it counts as empty. */
export function withoutDerived(call: Call, { duration, isEngaged }: DerivedMarks): Call {
  return { ...call, ...(duration && { duration: 0 }), ...(isEngaged && { isEngaged: false }) }
}

/** What else is known of the call. */
interface Known {
  engagementStated: boolean
  /** When a call was completed whose start and end were named, in milliseconds since 1970. */
  endAt: number | null
  /** As stored, with the call's latency. */
  details: string | null
  latencyMs: number | null
}

/**
 * Derives what nobody has said of a completed call: the duration from its start to its end, or to the last entry of its
 * timeline; whether the caller said anything; the median of what the caller waited for (nearest rank).
 */
export function derive(
  call: Call,
  marks: DerivedMarks,
  { engagementStated, endAt, details, latencyMs }: Known,
) {
  const same = { call, details, latencyMs }
  if (call.status === 'live')
    return { ...same, marks: { ...marks, duration: false, latencyMs: false, isEngaged: false } }
  const isDurationOpen = call.duration === 0 && !marks.saidZero
  const isEngagementOpen = !engagementStated && call.transcript.length > 0
  // Most calls have no latencies, and parsing details takes long.
  const isLatencyOpen = latencyMs === null && details?.includes('"total":') === true
  const isTimed = isDurationOpen && endAt === null && details !== null
  const stored = (isTimed || isLatencyOpen) && details ? readStored(details) : null
  const timeline = stored?.timeline ?? []
  const seconds =
    endAt === null
      ? (timeline.at(-1)?.atSeconds ?? 0)
      : Math.max(0, endAt - Date.parse(call.createdAt)) / 1_000
  const median = isLatencyOpen ? medianOf(timeline.flatMap((entry) => entry.latencyMs?.total ?? [])) : null
  return {
    call: {
      ...call,
      duration: isDurationOpen ? seconds : call.duration,
      isEngaged: isEngagementOpen ? call.transcript.some(isSaidByCaller) : call.isEngaged,
    },
    details: stored && median !== null ? toStored({ ...stored, latencyMs: median }) : details,
    latencyMs: median ?? latencyMs,
    marks: {
      ...marks,
      duration: isDurationOpen && seconds > 0,
      isEngaged: isEngagementOpen,
      latencyMs: median !== null,
    },
  }
}

function isSaidByCaller({ role, content }: Call['transcript'][number]): boolean {
  return role === 'user' && content.trim() !== ''
}

/** By nearest rank; null of nothing. */
function medianOf(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1] ?? null
}
