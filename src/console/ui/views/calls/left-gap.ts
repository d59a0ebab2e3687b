import type { QuestionOfCall } from '../../../../knowledge/questions/questions-of-call.ts'

/** Whether what was found during the call left a gap, or a person says so. */
export function leftGap({ mark, coverage, passages }: QuestionOfCall, gapCoverage: number): boolean {
  if (mark !== null) return mark === 'not_answered'
  return passages.length === 0 || (coverage !== null && coverage < gapCoverage)
}
