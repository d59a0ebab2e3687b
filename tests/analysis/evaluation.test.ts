import { expect, test } from 'bun:test'
import { evaluationOf } from '../../src/analysis/evaluation.ts'
import type { Verdict } from '../../src/analysis/schemas.ts'
import { rubricOf } from './rubrics.ts'

const criteria = ['a', 'b', 'c'].map((id) => ({ id, name: id, question: 'Is it?' }))

test.each([
  ['all', 'pass pass pass', 'success'],
  ['all', 'pass fail pass', 'fail'],
  ['all', 'unknown fail unknown', 'fail'],
  ['all', 'pass unknown pass', null],
  ['all', 'pass pass', null],
  ['all', '', null],
  [['a', 'c'], 'pass fail pass', 'success'],
  [['c'], 'fail fail unknown', null],
  [['b', 'c'], 'pass unknown fail', 'fail'],
  [null, 'pass pass pass', null],
  [null, 'fail fail fail', null],
] as const)('the evaluation by %j of %s is %p', (evaluation, results, expected) => {
  const verdicts = results.split(' ').flatMap((result, at) => {
    const id = criteria[at]?.id
    return result && id ? [{ id, result: result as Verdict }] : []
  })
  expect(
    evaluationOf(
      rubricOf({ criteria, evaluation: evaluation && (evaluation === 'all' ? 'all' : [...evaluation]) }),
      verdicts,
    ),
  ).toBe(expected)
})

test('without criteria there is no evaluation', () => {
  expect(evaluationOf(rubricOf({ evaluation: 'all' }), [])).toBeNull()
})
