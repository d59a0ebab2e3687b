import { type Static, Type } from '@sinclair/typebox'

/** When a record was deleted and erased. It holds nothing of the record itself. */
export const ErasureReceipt = Type.Object({
  id: Type.String({ description: 'The deleted record’s, as it was asked for.', example: 'call-1042' }),
  status: Type.Unsafe<'pending' | 'done'>({
    type: 'string',
    enum: ['pending', 'done'],
    description:
      '`done` when no byte of it is left in any file of the service; what a database server keeps is its own to clear.',
  }),
  requestedAt: Type.String({ description: 'When it was deleted.', example: '2026-01-31T09:30:00.000Z' }),
  doneAt: Type.Unsafe<string | null>({
    type: 'string',
    nullable: true,
    description: 'null while it is pending.',
    example: '2026-01-31T09:30:02.184Z',
  }),
})
export type ErasureReceipt = Static<typeof ErasureReceipt>
