import { type Static, Type } from '@sinclair/typebox'
import { certainInstantPattern } from '../text/instant.ts'
import { named } from '../validation.ts'

const idsMax = 1_000
const requestIdExample = 'era_019a5f0c2b7e7cc0a1d2e3f405162738'
const CallCount = (description: string) => Type.Integer({ minimum: 0, description, example: 12 })

/** The id of a call or of a knowledge item. */
export const RecordId = Type.String({
  title: 'RecordId',
  pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._:-]{1,128}$',
  'x-message': 'must be 1 to 128 characters of A-Z, a-z, 0-9, ., _, : and -',
  example: 'call-1042',
})

/** With properties, since generators of Java make a class of it that has them. */
const having = (...names: string[]) => ({
  properties: Object.fromEntries(names.map((name) => [name, {}])),
  required: names,
})

/** Which calls to erase: exactly one of `number`, `ids` and `before`. */
export const ErasureRequest = named(
  'ErasureRequest',
  {
    number: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: '^[^\\u0000]*[0-9][^\\u0000]*$',
        'x-message': 'must be a whole phone number, such as +15557294053',
        description:
          'A phone number: calls from it and calls to it. The whole number, compared as a number, so `+1 555 729 4053` ' +
          'and `+15557294053` are one; national forms are read by the country of the project.',
        example: '+15557294053',
      }),
    ),
    ids: Type.Optional(
      Type.Array(RecordId, {
        minItems: 1,
        maxItems: idsMax,
        description: 'Ids of calls. Ids that do not exist are not counted.',
        example: ['call-1042'],
      }),
    ),
    before: Type.Optional(
      Type.String({
        description: 'A time: erases completed calls whose `createdAt` is earlier.',
        format: 'date-time',
        'x-documented': { pattern: certainInstantPattern },
        example: '2026-01-31T09:30:00.000Z',
      }),
    ),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'Only count the calls; delete nothing.', example: true }),
    ),
  },
  {
    // Exactly one of them.
    'x-documented': {
      not: {
        anyOf: [
          { not: { anyOf: [having('number'), having('ids'), having('before')] } },
          having('number', 'ids'),
          having('number', 'before'),
          having('ids', 'before'),
        ],
      },
    },
    example: { number: '+15557294053', dryRun: true },
  },
)
export type ErasureRequest = Static<typeof ErasureRequest>

const onHold = Type.Optional(
  CallCount('Calls that stay because they are on hold. Absent when there are none.'),
)

export const CountedCalls = named('ErasureCount', {
  calls: CallCount('Calls that the request would delete.'),
  onHold,
})
export type CountedCalls = Static<typeof CountedCalls>

export const AcceptedErasure = named('AcceptedErasure', {
  id: Type.String({ description: 'For `GET /v1/erasures/{id}`.', example: requestIdExample }),
  calls: CallCount('Calls to delete.'),
  onHold,
  status: Type.Unsafe<'pending'>({ type: 'string', enum: ['pending'], example: 'pending' }),
})
export type AcceptedErasure = Static<typeof AcceptedErasure>

/** When a record was deleted and erased. It holds nothing of the record itself. */
export const ErasureReceipt = named('Erasure', {
  id: Type.String({
    description: 'The id that was asked for.',
    example: 'call-1042',
  }),
  status: Type.Unsafe<'pending' | 'done'>({
    type: 'string',
    enum: ['pending', 'done'],
    description:
      '`done` when no byte of it is left in any file of the service. A database server clears its own files.',
  }),
  requestedAt: Type.String({
    format: 'date-time',
    description: 'When it was deleted, or the item last changed.',
    example: '2026-01-31T09:30:00.000Z',
  }),
  doneAt: Type.Unsafe<string | null>({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'null while it is pending.',
    example: '2026-01-31T09:30:02.184Z',
  }),
  calls: Type.Optional(CallCount('Of an erasure request: calls to delete when it was accepted.')),
  deleted: Type.Optional(CallCount('Of an erasure request: calls deleted so far.')),
  onHold,
})
export type ErasureReceipt = Static<typeof ErasureReceipt>
