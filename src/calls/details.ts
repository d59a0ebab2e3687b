import { type SQL, sql } from 'drizzle-orm'
import type { StoredCall } from './call-head.ts'
import { replaces } from './late-events.ts'
import { marksOf } from './review/review.ts'
import type { CallDetails, CallDetailsUpdate, Review } from './schemas.ts'

type Details = Omit<CallDetails, 'metadata'>

const empty: Details = {
  source: null,
  agent: null,
  direction: null,
  recordingUrl: null,
  costUsd: null,
  latencyMs: null,
  timeline: [],
  review: null,
  redacted: null,
}
const emptyText = JSON.stringify(empty)

/** What the service itself says of a call. A request cannot set it. */
export type OwnDetails = Partial<Pick<Details, 'source' | 'redacted'>> & {
  /** The review, or how it follows from the stored one. */
  review?: Review | null | undefined | ((stored: Review | null) => Review | null)
}

/** The details of a call as JSON text, null when there are none, and the columns of its head that come from them. */
export type StoredDetails = Pick<StoredCall, 'details' | 'source' | 'agentId' | 'review'>

export const noDetails: StoredDetails = { details: null, source: null, agentId: null, review: null }

/** The details after a change: each member that it gives replaces the stored one. Metadata is merged beside them. */
export function mergeDetails(
  stored: StoredDetails,
  update: CallDetailsUpdate | undefined,
  own: OwnDetails | undefined,
  isLate: boolean,
): StoredDetails {
  const { details: text, source, agentId, review: marks } = stored
  if (!update && !own) return { details: text, source, agentId, review: marks }
  const details: Details = text === null ? { ...empty } : JSON.parse(text)
  const review = typeof own?.review === 'function' ? own.review(details.review) : own?.review
  for (const [name, value] of Object.entries({ ...given(update ?? {}), ...own, review })) {
    if (replaces(value, details[name as keyof Details], isLate)) Object.assign(details, { [name]: value })
  }
  const merged = JSON.stringify(details)
  return {
    details: merged === emptyText ? null : merged,
    source: details.source,
    agentId: details.agent?.id ?? null,
    review: marksOf(details.review),
  }
}

/** The members that a request may set, in the form in which they are stored. */
function given({ agent, direction, recordingUrl, costUsd, latencyMs, timeline }: CallDetailsUpdate) {
  return {
    agent: agent && { id: agent.id, name: agent.name ?? null },
    ...{ direction, recordingUrl, costUsd, latencyMs },
    timeline:
      timeline === null
        ? []
        : timeline?.map(({ atSeconds, kind, turn = null, name = null, text = null }) => ({
            ...{ atSeconds, kind, turn, name, text },
          })),
  }
}

/** The details of a call from call_details, as they are served. */
export const servedDetails: SQL = sql`
  coalesce(substr(details, 1, length(details) - 1), ${sql.raw(`'${emptyText.slice(0, -1)}'`)})
  || ',"metadata":' || coalesce(metadata, 'null') || '}'`

/** Bytes of the details of a row of `calls`, without their metadata. */
export const storedDetailsBytes: SQL<number> = sql`
  coalesce((select octet_length(details) from call_details where call_details.seq = calls.seq), 0)`

/** About how many bytes they have. SQLite knows those of a stored text without reading it. */
export const detailsBytes: SQL<number> = sql`coalesce(octet_length(details), 0) + coalesce(octet_length(metadata), 0)`
