import { isDeepStrictEqual } from 'node:util'
import type { DifferingReview, KeptReview } from '../../db/restore-erasures.ts'
import { verdictsOf } from '../call-head.ts'
import { valuesOf } from '../finding/call-values.ts'
import { headText } from '../finding/number-words.ts'
import type { Review } from '../schemas.ts'
import { contentOf, marksOf } from './review.ts'

/** What a restored call keeps of its review: what nobody has removed or replaced until the later state. */
export function keepReview(reviewPair: DifferingReview): KeptReview {
  const { analysis, ownEvaluation } = reviewPair
  // Both texts are of call_details, which only merge-details.ts writes.
  const before: Review = JSON.parse(reviewPair.review)
  const later: Review | null = JSON.parse(reviewPair.later)
  const values: string[] = JSON.parse(reviewPair.valueList)
  const review = commonOf(before, later)
  const marks = marksOf(review)
  const valuesWith = (marks: ReturnType<typeof marksOf>) =>
    valuesOf(
      { callAnalysis: null },
      { review: marks, recording: null, verdicts: verdictsOf(analysis, marks) },
      [],
    )
  const ofReview = new Set(valuesWith(marksOf(before)))
  return {
    review: JSON.stringify(review),
    marks: marks && JSON.stringify(marks),
    evaluation: headText(review?.evaluation ?? ownEvaluation),
    valueList: JSON.stringify([...values.filter((value) => !ofReview.has(value)), ...valuesWith(marks)]),
  }
}

function commonOf(review: Review, later: Review | null): Review | null {
  const [before, after] = [contentOf(review), contentOf(later)]
  const same = <Key extends 'evaluation' | 'note' | 'assignee'>(key: Key) =>
    before[key] === after[key] ? before[key] : null
  const common = {
    evaluation: same('evaluation'),
    note: same('note'),
    assignee: same('assignee'),
    labels: before.labels.filter((label) => after.labels.includes(label)),
    flaggedTurns: before.flaggedTurns.filter((turn) => after.flaggedTurns.includes(turn)),
    criteria: Object.fromEntries(
      Object.entries(before.criteria).filter(([id, verdict]) => after.criteria[id] === verdict),
    ),
    reviewed: before.reviewed && after.reviewed,
  }
  return isDeepStrictEqual(common, contentOf(null)) ? null : { ...common, by: review.by, at: review.at }
}
