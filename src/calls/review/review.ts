import { isDeepStrictEqual } from 'node:util'
import type { AuditAction } from '../../audit/actions.ts'
import type { ReviewMarks } from '../../db/schema.ts'
import { AppError, invalidRequest } from '../../errors.ts'
import { nameProblem } from '../../validation.ts'
import { noValue } from '../filters.ts'
import { type Call, labelsMax, type Review } from '../schemas.ts'
import { flaggedTurnsMax, type ReviewChange, type ReviewUpdate, verdictsMax } from './schemas.ts'

/** A change by additions to lists, or by whole lists. */
export type AnyReviewChange = Omit<ReviewChange, keyof ReviewUpdate> & ReviewUpdate

/** The parts of a review that lists show. */
export function marksOf(review: Review | null): ReviewMarks | null {
  if (!review) return null
  const { note, flaggedTurns, ...content } = contentOf(review)
  const { by, at } = review
  return { ...content, noted: note !== null, flagged: flaggedTurns.length > 0, by, at }
}

/**
 * The review after a person's change; null if it is empty. An evaluation marks the call as reviewed.
 * @param by the person's name
 * @param at ISO 8601
 * @param turns how many turns the call has
 * @throws invalid_request for too many labels or flags, or a whole list with another turn; no_such_turn; note_has_changed
 */
export function changeReview(
  storedReview: Review | null,
  change: AnyReviewChange,
  { by, at, turns }: { by: string | null; at: string; turns: number },
): Review | null {
  const before = contentOf(storedReview)
  if (change.flagTurns?.some((turn) => turn >= turns)) throw noSuchTurn(turns)
  const evaluation = trimmed(change.evaluation === undefined ? before.evaluation : change.evaluation)
  const note = trimmed(change.note === undefined ? before.note : change.note)
  if (isOutdated(change.noteBefore, before.note, note)) throw noteHasChanged(storedReview)
  const whole = wholeLists(change, turns)
  const labels = changedList(
    whole.labels ?? before.labels,
    change.addLabels?.map((label) => trimLabel(label, 'addLabels')),
    change.removeLabels,
  )
  const isEvaluated = evaluation !== null && change.evaluation !== undefined
  const reviewed = change.reviewed ?? (change.reviewed !== null && (before.reviewed || isEvaluated))
  const flagged = whole.flaggedTurns ?? before.flaggedTurns
  const flaggedTurns = changedList(flagged, change.flagTurns, change.unflagTurns)
  const criteria = change.criteria === null ? {} : ruled(before.criteria, change.criteria)
  const assignee = trimmed(change.assignee === undefined ? before.assignee : change.assignee)
  if (labels.length > labelsMax) throw tooMany('addLabels', `${labelsMax} labels`)
  if (flaggedTurns.length > flaggedTurnsMax) throw tooMany('flagTurns', `${flaggedTurnsMax} flags`)
  if (Object.keys(criteria).length > verdictsMax) throw tooMany('criteria', `${verdictsMax} verdicts`)
  const turnsInOrder = flaggedTurns.toSorted((a, b) => a - b)
  const after = { evaluation, note, labels, reviewed, flaggedTurns: turnsInOrder, criteria, assignee }
  if (isDeepStrictEqual(after, contentOf(null))) return null
  return isDeepStrictEqual(after, before) ? storedReview : { ...after, by, at }
}

/** Fills in members that an imported review may lack. */
export function contentOf(storedReview: Review | null): Required<Omit<Review, 'by' | 'at'>> {
  const { evaluation = null, note = null, labels = [], flaggedTurns = [], criteria = {} } = storedReview ?? {}
  const { assignee = null } = storedReview ?? {}
  const reviewed = storedReview?.reviewed ?? evaluation !== null
  return { evaluation, note, labels, reviewed, flaggedTurns, criteria, assignee }
}

/** The audit actions of a change: one for each kind of thing that it changes. */
export function actionsOf(change: AnyReviewChange): AuditAction[] {
  const { evaluation, criteria, note, reviewed, assignee, labels, flaggedTurns } = change
  const { addLabels, removeLabels, flagTurns, unflagTurns } = change
  const actions: (readonly [AuditAction, boolean])[] = [
    ['call_evaluated', evaluation !== undefined || criteria !== undefined],
    ['call_noted', note !== undefined],
    ['call_labelled', isAnyNamed(addLabels, removeLabels, labels)],
    ['call_reviewed', reviewed !== undefined],
    ['call_assigned', assignee !== undefined],
    ['turn_flagged', isAnyNamed(flagTurns, unflagTurns, flaggedTurns)],
  ]
  return actions.flatMap(([action, isNamed]) => (isNamed ? [action] : []))
}

function isAnyNamed(...members: unknown[]): boolean {
  return members.some((member) => member !== undefined)
}

/** The lists that a change replaces. @throws invalid_request */
function wholeLists({ labels, flaggedTurns }: AnyReviewChange, turns: number) {
  if (flaggedTurns?.some((turn) => turn >= turns))
    throw invalidRequest([{ field: 'flaggedTurns', message: `the call has ${turnsIn(turns)}` }])
  const trimmed = labels?.map((label) => trimLabel(label, 'labels'))
  return {
    labels: labels === null ? [] : trimmed,
    flaggedTurns: flaggedTurns === null ? [] : flaggedTurns,
  }
}

/**
 * What the audit trail says of changed verdicts: `fail → success, greeted: none → pass`. It outlives the call, so words
 * of one's own are `other` in it.
 */
export function verdictChange(before: Judged, after: Judged): string {
  const [ruledBefore, ruledAfter] = [before.review?.criteria ?? {}, after.review?.criteria ?? {}]
  const ids = new Set([...Object.keys(ruledBefore), ...Object.keys(ruledAfter)])
  const changes = [
    ['', evaluationOf(before), evaluationOf(after)],
    ...[...ids].map((id) => [`${id}: `, ruledBefore[id] ?? noValue, ruledAfter[id] ?? noValue]),
  ]
  return changes.flatMap(([name, from, to]) => (from === to ? [] : `${name}${from} → ${to}`)).join(', ')
}

interface Judged {
  review: Pick<Review, 'evaluation' | 'criteria'> | null
  call: Pick<Call, 'evaluation'>
}

function evaluationOf({ review, call }: Judged): string {
  const evaluation = review?.evaluation ?? call.evaluation
  if (evaluation === null) return noValue
  return evaluation === 'success' || evaluation === 'fail' ? evaluation : 'other'
}

function changedList<Value>(
  values: readonly Value[],
  additions: readonly Value[] = [],
  removals: readonly Value[] = [],
): Value[] {
  const removalSet = new Set(removals)
  return [...new Set([...values, ...additions])].filter((value) => !removalSet.has(value))
}

/** Verdicts after a change, in which null takes one back. */
function ruled(
  verdicts: Readonly<Record<string, 'pass' | 'fail'>>,
  change: NonNullable<ReviewUpdate['criteria']> = {},
): Record<string, 'pass' | 'fail'> {
  const all = Object.entries({ ...verdicts, ...change })
  return Object.fromEntries(all.flatMap(([id, verdict]) => (verdict ? [[id, verdict]] : [])))
}

function trimLabel(label: string, field: 'labels' | 'addLabels'): string {
  const problem = nameProblem(label)
  if (problem) throw invalidRequest([{ field, message: problem }])
  return label.trim()
}

function trimmed(text: string | null): string | null {
  return text?.trim() ? text.trim() : null
}

/** Whether somebody else has changed the note meanwhile. */
function isOutdated(
  noteBefore: string | null | undefined,
  storedNote: string | null,
  note: string | null,
): boolean {
  return noteBefore !== undefined && trimmed(noteBefore) !== storedNote && note !== storedNote
}

function noteHasChanged(storedReview: Review | null): AppError {
  const who = storedReview?.by ? `${storedReview.by} has` : 'Somebody has'
  const when = storedReview ? ` at ${storedReview.at}` : ''
  return new AppError('note_has_changed', 'Note has changed', {
    detail: `${who} changed the review of this call${when}. Read the note again before you replace it.`,
  })
}

function noSuchTurn(turns: number): AppError {
  return new AppError('no_such_turn', 'No such turn', {
    detail: `flagTurns: the call has ${turnsIn(turns)}.`,
  })
}

function turnsIn(turns: number): string {
  return turns === 0 ? 'no turns' : `${turns} turns, from 0 to ${turns - 1}`
}

function tooMany(field: string, most: string) {
  return invalidRequest([{ field, message: `would give the call more than ${most}` }])
}
