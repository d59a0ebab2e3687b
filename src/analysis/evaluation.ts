import type { JudgedCriterion, RubricContent } from './schemas.ts'

type Verdicts = readonly Pick<JudgedCriterion, 'id' | 'result'>[]

/**
 * What the verdicts make of a call: `fail` where a criterion that the evaluation names failed, `success` where all of
 * them passed; null where that is not known or nothing is evaluated.
 */
export function evaluationOf(
  { criteria, evaluation }: Pick<RubricContent, 'criteria' | 'evaluation'>,
  verdicts: Verdicts,
): 'success' | 'fail' | null {
  const ids = evaluation === 'all' ? criteria.map(({ id }) => id) : (evaluation ?? [])
  const results = ids.map((name) => verdicts.find(({ id }) => id === name)?.result)
  if (results.includes('fail')) return 'fail'
  return results.length > 0 && results.every((result) => result === 'pass') ? 'success' : null
}
