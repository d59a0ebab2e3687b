import { type Static, Type } from '@sinclair/typebox'

/** The id of a call or of a knowledge item, for documents. */
export const RecordId = Type.String({
  title: 'RecordId',
  pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._:-]{1,128}$',
  example: 'call-1042',
})

/** When a record was deleted and erased. It holds nothing of the record itself. */
export const ErasureReceipt = Type.Object(
  {
    id: Type.String({ description: "The deleted record's, as it was asked for.", example: 'call-1042' }),
    status: Type.Unsafe<'pending' | 'done'>({
      type: 'string',
      enum: ['pending', 'done'],
      description:
        '`done` when no byte of it is left in any file of the service; what a database server keeps is its own to clear.',
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
  },
  { title: 'Erasure' },
)
export type ErasureReceipt = Static<typeof ErasureReceipt>
