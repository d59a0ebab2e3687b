import { Type } from '@sinclair/typebox'
import { named } from '../../validation.ts'

const nullable = { nullable: true }

const Figure = named('Figure', {
  key: Type.Optional(
    Type.Unsafe<string | null>({
      type: 'string',
      ...nullable,
      description:
        'A day, a week by its Monday, a month, the time at which an hour starts, the seconds from which durations begin, or the text with which the filter finds these calls. null without `by`.',
      example: '2026-01-31',
    }),
  ),
  keys: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 2,
      maxItems: 2,
      description: 'Instead of `key` by two of them: the key of each.',
      example: ['2026-01-31', 'success'],
    }),
  ),
  value: Type.Unsafe<number | null>({
    type: 'number',
    ...nullable,
    description: 'null where no call of the group has a value.',
    example: 0.82,
  }),
  calls: Type.Integer({ minimum: 0, description: 'How many calls the group has.', example: 118 }),
})

/** Figures of the calls that filters find. */
export const CallFigures = named('Figures', {
  of: Type.String({ example: 'success' }),
  show: Type.String({ example: 'share' }),
  by: Type.Unsafe<string | null>({ type: 'string', ...nullable, example: 'day' }),
  data: Type.Array(Figure, { maxItems: 1_000 }),
  total: Type.Integer({ minimum: 0, description: 'How many calls the filters find.', example: 118 }),
  asOf: Type.Optional(
    Type.String({
      description:
        'Of when the figures are, on a remote database with more than 100,000 calls: up to 60 seconds ago.',
    }),
  ),
})
