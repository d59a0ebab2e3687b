import { type SQL, sql } from 'drizzle-orm'
import type { StoredCall } from './call-head.ts'
import { servedDocument } from './document.ts'
import { marksOf } from './review/review.ts'
import {
  type CallDetails,
  type CallDetailsUpdate,
  type Review,
  TimelineEntry,
  TurnLatency,
} from './schemas.ts'
import { replaces } from './writing/late-events.ts'
import { type PartCounts, type Redactions, readCounts, sumOf, toPartsText } from './writing/redaction.ts'

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

/** Details that only the service sets, never a request. */
export type OwnDetails = Partial<Pick<Details, 'source' | 'redacted'>> & {
  /** The review, or a function that makes it from the stored one and the number of turns. */
  review?: Review | null | undefined | ((stored: Review | null, turns: number) => Review | null)
}

/** A call's details as JSON text, null if there are none, and the columns of its head that derive from them. */
export type StoredDetails = Pick<StoredCall, 'details' | 'source' | 'agentId' | 'review' | 'redactions'>

export const noDetails: StoredDetails = {
  details: null,
  source: null,
  agentId: null,
  review: null,
  redactions: null,
}

/**
 * The details after a change. Each member of the change replaces the stored one; metadata is merged separately.
 * @param counted redactions in the other parts of the call, as it is now
 * @param redactions redactions in the change
 * @param turns how many turns the call has now
 */
export function mergeDetails(
  stored: StoredDetails,
  update: CallDetailsUpdate | undefined,
  own: OwnDetails | undefined,
  isLate: boolean,
  counted: PartCounts,
  redactions: Redactions,
  turns: number,
): StoredDetails {
  const { details: text, source, agentId, review: marks } = stored
  if (!update && !own && toPartsText(counted) === stored.redactions)
    return { details: text, source, agentId, review: marks, redactions: stored.redactions }
  const details: Details = text === null ? { ...empty } : JSON.parse(text)
  const { redacted: imported, ...ofService } = own ?? {}
  const review =
    typeof ofService.review === 'function' ? ofService.review(details.review, turns) : ofService.review
  for (const [name, value] of Object.entries({ ...given(update ?? {}), ...ofService, review })) {
    if (!replaces(value, details[name as keyof Details], isLate)) continue
    Object.assign(details, { [name]: value })
    if (name === 'timeline') counted.timeline = redactions.timeline ?? {}
  }
  if (imported !== undefined) counted.imported = readCounts(imported)
  const redacted = sumOf(Object.values(counted))
  details.redacted = Object.keys(redacted).length > 0 ? redacted : null
  const merged = JSON.stringify(details)
  return {
    details: merged === emptyText ? null : merged,
    source: details.source,
    agentId: details.agent?.id ?? details.timeline.find((entry) => entry.agentId)?.agentId ?? null,
    review: marksOf(details.review),
    redactions: toPartsText(counted),
  }
}

/** The members that a request may set, in stored form. */
function given({ agent, direction, recordingUrl, costUsd, latencyMs, timeline }: CallDetailsUpdate) {
  return {
    agent: agent && { id: agent.id, name: agent.name ?? null },
    ...{ direction, recordingUrl, costUsd, latencyMs },
    timeline:
      timeline === null
        ? []
        : timeline?.map((entry) => ({
            ...whole(TimelineEntry.properties, entry),
            interrupted: entry.interrupted ?? false,
            latencyMs: entry.latencyMs ? whole(TurnLatency.properties, entry.latencyMs) : null,
          })),
  }
}

/** All members of a schema in its order; absent ones are null. */
function whole(properties: object, members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, members[name] ?? null]))
}

/** The details of a call from call_details, as the API returns them. */
export const servedDetails: SQL = sql`
  coalesce(substr(details, 1, length(details) - 1), ${sql.raw(`'${emptyText.slice(0, -1)}'`)})
  || ',"metadata":' || coalesce(metadata, 'null') || '}'`

/** The same beside call_documents. */
export const detailsBeside: SQL<string> = sql`(
  select ${servedDetails} from (select 1) left join call_details on call_details.seq = call_documents.seq)`

/** A document from call_documents; if the parameter `isDetailed` is 1, with its details as its last member. */
export const documentInForm: SQL<string> = sql`case when ${sql.placeholder('isDetailed')}
  then rtrim(${servedDocument}, '}') || ',"details":' || ${detailsBeside} || '}' else ${servedDocument} end`

/** Details as JSON without timeline and metadata. Quotes inside a text are escaped, so these places are found exactly. */
export const briefDetails: SQL<string | null> = sql`substr(details, 1, instr(details, ',"timeline":[') - 1)
  || substr(details, instr(details, '],"review":') + 1)`

/** Bytes of the details in a row of `calls`, without metadata. */
export const storedDetailsBytes: SQL<number> = sql`
  coalesce((select octet_length(details) from call_details where call_details.seq = calls.seq), 0)`

/** The approximate size of the details. SQLite knows the size of a stored text without reading it. */
export const detailsBytes: SQL<number> = sql`coalesce(octet_length(details), 0) + coalesce(octet_length(metadata), 0)`
