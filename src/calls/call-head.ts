import { getTableColumns } from 'drizzle-orm'
import { calls, type ReviewMarks, unknownEngagement } from '../db/schema.ts'
import { otherAgentsIn, readDetailsStart } from './finding/agent-names.ts'
import { valuesOf } from './finding/call-values.ts'
import { headText } from './finding/number-words.ts'
import type { Call } from './schemas.ts'
import { isEngagementKnown } from './writing/derive.ts'
import { readAnalysis } from './writing/fills.ts'

const columnsOfCalls = getTableColumns(calls)
const { seq, projectId, id, createdAt, changeSeq, callerDigits, calledDigits, ...others } = columnsOfCalls
const {
  responseMs,
  responseP95Ms,
  responseMaxMs,
  deadAirSeconds,
  talkOverSeconds,
  agentShare,
  interruptions,
  ...columnsOfWrites
} = others
const { documentChars, valueList, ...servedColumns } = columnsOfWrites
const {
  occurredAt,
  createdOnArrival,
  engagementStated,
  derived,
  completedAt,
  heardAt,
  costUsd,
  latencyMs,
  ...shown
} = servedColumns
const { source, agentId, review, recording, sound } = shown

/**
 * The columns that every write of a call sets: all but those that never change and those that the database computes.
 */
export const writtenColumns = columnsOfWrites
/** The columns that a list shows. */
export const listedColumns = { id, createdAt, ...shown }
/** The columns that are in no document. */
export const unservedColumns = {
  occurredAt,
  createdOnArrival,
  engagementStated,
  derived,
  completedAt,
  heardAt,
  source,
  agentId,
  review,
  recording,
  sound,
  costUsd,
  latencyMs,
}

/** A stored call, including what the API does not return. */
export interface StoredCall extends Pick<typeof calls.$inferSelect, keyof typeof unservedColumns> {
  call: Call
  /** The call as the API returns it. */
  document: string
  /** JSON text, or null: see details.ts. */
  details: string | null
  /** JSON text, or null. */
  metadata: string | null
  /** JSON text, or null: see writing/redaction.ts. */
  redactions: string | null
  /** JSON text, or null: see writing/fills.ts. */
  analysis: string | null
}

/** The values of `writtenColumns`. */
export function toHead({
  call,
  document,
  details,
  metadata: _,
  redactions: __,
  analysis,
  review,
  sound,
  ...unserved
}: StoredCall): Record<keyof typeof columnsOfWrites, string | number | boolean | null> {
  return {
    ...unserved,
    review: review && JSON.stringify(review),
    sound: sound && JSON.stringify(sound),
    updatedAt: Date.parse(call.updatedAt),
    status: call.status,
    // A person's evaluation takes precedence over the platform's.
    evaluation: headText(review?.evaluation ?? call.evaluation),
    isEngaged: isEngagementKnown(unserved) ? Number(call.isEngaged) : unknownEngagement,
    duration: call.duration,
    callerNumber: headText(call.callerNumber),
    calledNumber: headText(call.calledNumber),
    endedReason: headText(call.endedReason),
    documentChars: document.length,
    valueList: toList(
      valuesOf(
        call,
        {
          ...unserved,
          ...readDetailsStart(details),
          review,
          verdicts: verdictsOf(analysis, review),
          sound: sound?.state ?? null,
        },
        otherAgentsIn(details, unserved.agentId),
      ),
    ),
  }
}

/** Returns the verdict of each criterion: a person's, or else the analysis's. */
export function verdictsOf(analysis: string | null, review: ReviewMarks | null): Record<string, string> {
  return { ...readAnalysis(analysis)?.brief.criteria, ...review?.criteria }
}

function toList(values: string[]): string | null {
  return values.length > 0 ? JSON.stringify(values) : null
}
