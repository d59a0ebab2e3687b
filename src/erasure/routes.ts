import { Elysia } from 'elysia'
import { callerContext } from '../http/caller.ts'
import { jsonAnswer, keyedAnswers, pathParameter } from '../http/openapi.ts'
import type { ErasureReceipts } from './receipts.ts'
import { ErasureReceipt, RecordId } from './schemas.ts'

/** /v1/erasures: whether deleted records are erased. */
export function erasureRoutes(receipts: ErasureReceipts) {
  return (
    new Elysia({ prefix: '/v1/erasures' })
      .use(callerContext())
      // Elysia gives null for an id whose percent-encoding is broken.
      .get('/:id', ({ caller, params }) => receipts.get(caller.projectId, params.id ?? ''), {
        detail: {
          tags: ['Changes'],
          security: [{ apiKey: [] }],
          operationId: 'getErasure',
          summary: 'See whether a deleted record, or the earlier text of an item, is erased',
          description:
            'By the id of the call or knowledge item. The receipt is kept under a keyed hash of the id; ' +
            'nothing of the record is.',
          parameters: [pathParameter('id', 'The id of the deleted call or item.', 'call-1042', RecordId)],
          responses: keyedAnswers({ 200: jsonAnswer('The receipt.', ErasureReceipt) }, ['not_found']),
        },
      })
  )
}
