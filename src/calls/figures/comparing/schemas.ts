import { type Static, Type } from '@sinclair/typebox'
import { named } from '../../../validation.ts'
import { figuresMax } from './compare-request.ts'

export const comparisonsMax = 20

const nullable = <Value>(type: string, description: string, example: Value) =>
  Type.Unsafe<Value | null>({ type, nullable: true, description, example })
const time = (description: string, example: string) => nullable('string', description, example)

const Calls = named('ComparedCalls', {
  query: Type.String({
    description:
      'Of `GET /v1/calls`: it lists exactly these calls, until calls of their time are written or deleted.',
    example:
      'agentVersion=v13&status=completed&from=2026-03-01T08%3A00%3A00.000Z&to=2026-03-12T17%3A30%3A00.000Z',
  }),
  url: Type.String({
    description: 'Lists the same calls in the console.',
    example:
      'https://callbook.example.com/console/p/prj_019a5f0c2b7e7cc0a1d2e3f405162738/calls?agentVersion=v13',
  }),
  calls: Type.Integer({ minimum: 0, example: 1180 }),
  from: time('When the first of them was created; null without calls.', '2026-03-01T08:00:00.000Z'),
  to: time('Just after the last one was created.', '2026-03-12T17:30:00.000Z'),
})

const Value = named('ComparedValue', {
  value: nullable('number', 'null where no call has a number.', 0.82),
  n: Type.Integer({ minimum: 0, description: 'How many calls have a number.', example: 1104 }),
})

const Metric = named('ComparedMetric', {
  of: Type.String({ example: 'success' }),
  a: Value,
  b: Value,
  difference: nullable('number', 'b − a.', 0.041),
  low: nullable('number', 'The interval of the difference; null where there is none.', -0.012),
  high: nullable('number', 'Its other end.', 0.093),
  level: Type.Number({
    minimum: 0,
    maximum: 1,
    description:
      'Of confidence: 0.95 for the first figure, and for the others together. Several groups share both.',
    example: 0.95,
  }),
  verdict: Type.Unsafe<'better' | 'worse' | 'higher' | 'lower' | 'not_sure'>({
    type: 'string',
    enum: ['better', 'worse', 'higher', 'lower', 'not_sure'],
    description: '`higher` or `lower` where neither is better.',
    example: 'not_sure',
  }),
  reason: Type.Unsafe<'few' | 'skewed' | 'open' | null>({
    type: 'string',
    enum: ['few', 'skewed', 'open', null],
    nullable: true,
    description:
      'Why nothing is sure: `few` numbers (below 30 in a group, 100 for p95), an average that is `skewed` by a few very ' +
      'large numbers (ask for p50), or an interval that is `open`, because 0 is in it.',
    example: 'open',
  }),
  moreCalls: nullable(
    'integer',
    'About how many more calls of b settle what is open with a chance of 4 in 5, if the difference stays and both ' +
      'groups grow in proportion; null above 100,000.',
    600,
  ),
})
export type ComparedMetric = Static<typeof Metric>

const Compared = named('ComparedGroup', {
  key: nullable('string', 'The value of the calls of b; null where b was named by filters.', 'v14'),
  b: Calls,
  overlap: nullable('number', "The share of b's calls created within a's first and last.", 0),
  metrics: Type.Array(Metric, { maxItems: figuresMax }),
})

/** Two groups of calls or more, compared by figures. */
export const Comparison = named('Comparison', {
  a: Calls,
  comparisons: Type.Array(Compared, {
    maxItems: comparisonsMax,
    description: 'Those with the most calls first.',
  }),
})
export type Comparison = Static<typeof Comparison>
