import { createHash } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { ReviewMarks } from '../../db/schema.ts'
import type { CallFilter } from '../filters.ts'
import type { Call } from '../schemas.ts'

/** How many members of a call's analysis it can be found by. Bounded, so that no write is slow. */
const analysisValuesMax = 200
/** Longer values are stored as a hash. */
const valueCharsMax = 200

/**
 * The values in `calls.value_list` that a call can be found by: each string, number and boolean at the top level of its
 * analysis, as `["analysis.KEY",VALUE]`, each label, the assignee and each mark of its review, the verdict on each criterion, the state of
 * its recording and of its sound, its direction, the version of its agent, and the agents beside its own.
 */
export function valuesOf(
  { callAnalysis }: Pick<Call, 'callAnalysis'>,
  { review, verdicts, recording, sound, agentVersion, direction }: Known,
  otherAgents: readonly string[],
): string[] {
  const marks = review ? reviewMarks.filter((mark) => review[mark]).map(markValue) : []
  const labels = new Set(review?.labels.map(labelValue))
  const assignees = review?.assignee ? [assigneeValue(review.assignee)] : []
  const texts = Object.entries({ recording, sound, agentVersion, direction }).flatMap(([name, text]) =>
    text ? [toValue(name, text)] : [],
  )
  const judged = Object.entries(verdicts).map(([id, verdict]) => verdictValue(id, verdict))
  const agents = otherAgents.map(agentValue)
  return [...labels, ...assignees, ...marks, ...texts, ...judged, ...agents, ...analysisValues(callAnalysis)]
}

interface Known extends Partial<Record<ListedName, string | null>> {
  review: ReviewMarks | null
  verdicts: Readonly<Record<string, string>>
}

/** What a call has at most one text of, as the filters of these names find it. */
type ListedName = Extract<CallFilter, { kind: 'listed' }>['name']

const reviewMarks = ['reviewed', 'noted', 'flagged'] as const
type ReviewMark = (typeof reviewMarks)[number]

/** The value of a mark in `calls.value_list`. */
export function markValue(mark: ReviewMark): string {
  return toValue(mark, true)
}

/** The value of a label in `calls.value_list`. */
export function labelValue(label: string): string {
  return hashed('label', label)
}

/** The value in `calls.value_list` of the person who is to review a call. */
export function assigneeValue(assignee: string): string {
  return hashed('assignee', assignee)
}

/** The value in `calls.value_list` of the verdict on a criterion. */
function verdictValue(id: string, verdict: string): string {
  return toValue(`criterion.${id}`, verdict)
}

/** The value in `calls.value_list` of an agent that took part in a call beside the call's own agent. */
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

/** A value as `calls.value_list` has it. */
export function toValue(name: string, value: unknown): string {
  return JSON.stringify([name, value])
}

/** Whether a row of `calls` has no value under this name, which never has hashes. */
export function isUnlisted(name: ListedName): SQL {
  const start = JSON.stringify(`${JSON.stringify([name]).slice(0, -1)},`).slice(0, -1)
  return sql`coalesce(instr(calls.value_list, ${start}), 0) = 0`
}

/** SQL for a flag of `calls` as filters write it; null where it is unknown. */
export function flagText(column: string): string {
  return `case calls.${column} when 1 then 'true' when 0 then 'false' end`
}

function hashed(name: string, value: unknown): string {
  const text = toValue(name, value)
  return text.length <= valueCharsMax ? text : createHash('sha256').update(text).digest('hex')
}
