import { createHash } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { ReviewMarks } from '../../db/schema.ts'
import type { Call } from '../schemas.ts'

/** How many members of a call's analysis it can be found by. Bounded, so that no write is slow. */
const analysisValuesMax = 200
/** Longer values are stored as a hash. */
const valueCharsMax = 200

/**
 * The values in call_values that a call can be found by: each string, number and boolean at the top level of its
 * analysis, as `["analysis.KEY",VALUE]`, each label, the assignee and each mark of its review, the verdict on each criterion, the state of
 * its recording, and the agents beside its own.
 */
export function valuesOf(
  { callAnalysis }: Pick<Call, 'callAnalysis'>,
  {
    review,
    recording,
    verdicts,
  }: { review: ReviewMarks | null; recording: string | null; verdicts: Readonly<Record<string, string>> },
  otherAgents: readonly string[],
): string[] {
  const marks = review ? reviewMarks.filter((mark) => review[mark]).map(markValue) : []
  const labels = new Set(review?.labels.map(labelValue))
  const assignees = review?.assignee ? [assigneeValue(review.assignee)] : []
  const states = recording === null ? [] : [recordingValue(recording)]
  const judged = Object.entries(verdicts).map(([id, verdict]) => verdictValue(id, verdict))
  const agents = otherAgents.map(agentValue)
  return [...labels, ...assignees, ...marks, ...states, ...judged, ...agents, ...analysisValues(callAnalysis)]
}

const reviewMarks = ['reviewed', 'noted', 'flagged'] as const
type ReviewMark = (typeof reviewMarks)[number]

/** The value of a mark in call_values. */
export function markValue(mark: ReviewMark): string {
  return toValue(mark, true)
}

/** The value of a recording's state in call_values. */
export function recordingValue(state: string): string {
  return toValue('recording', state)
}

/** The value of a label in call_values. */
export function labelValue(label: string): string {
  return hashed('label', label)
}

/** The value in call_values of the person who is to review a call. */
export function assigneeValue(assignee: string): string {
  return hashed('assignee', assignee)
}

/** The value in call_values of the verdict on a criterion. */
function verdictValue(id: string, verdict: string): string {
  return toValue(`criterion.${id}`, verdict)
}

/** The value in call_values of an agent that took part in a call beside the call's own agent. */
export function agentValue(agentId: string): string {
  return hashed('otherAgentId', agentId)
}

function analysisValues(callAnalysis: Call['callAnalysis']): string[] {
  return Object.entries(callAnalysis ?? {})
    .filter(
      ([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
    )
    .slice(0, analysisValuesMax)
    .map(([key, value]) => hashed(`analysis.${key}`, value))
}

/** The values that a query's text can mean: `4` is a string and a number. */
export function valuesMeant(name: string, text: string): string[] {
  return meaningsOf(text).map((value) => hashed(name, value))
}

/** The strings, numbers and booleans that a query's text can mean. */
export function meaningsOf(text: string): (string | number | boolean)[] {
  const values: (string | number | boolean)[] = [text]
  if (text === 'true' || text === 'false') values.push(text === 'true')
  if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) values.push(Number(text))
  return values
}

/** A value as call_values has it. */
export function toValue(name: string, value: unknown): string {
  return JSON.stringify([name, value])
}

/** Whether a value in call_values is under this name, and not so long that only its hash is stored. */
export function isUnder(value: SQL, name: string): SQL {
  const start = JSON.stringify([name]).slice(0, -1)
  return sql`${value} >= ${`${start},`} and ${value} < ${`${start}-`}`
}

function hashed(name: string, value: unknown): string {
  const text = toValue(name, value)
  return text.length <= valueCharsMax ? text : createHash('sha256').update(text).digest('hex')
}
