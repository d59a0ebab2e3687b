import { Elysia } from 'elysia'
import { byKey, callerContext } from '../http/caller.ts'
import { bodyOf } from '../validation.ts'
import * as docs from './docs.ts'
import type { ErasureRequests } from './erasure-requests.ts'
import type { ErasureReceipts } from './receipts.ts'
import { ErasureRequest } from './schemas.ts'

interface ErasureParts {
  erasureRequests: ErasureRequests
  erasureReceipts: ErasureReceipts
}

/** /v1/erasures: erases many calls, and tells whether deleted records are erased. */
export function erasureRoutes({ erasureRequests, erasureReceipts }: ErasureParts) {
  return (
    new Elysia({ prefix: '/v1/erasures' })
      .use(callerContext())
      .post(
        '',
        async ({ caller, body, set }) => {
          const answer = await erasureRequests.request(caller.projectId, body, byKey(caller))
          set.status = 'id' in answer ? 202 : 200
          return answer
        },
        { parse: 'json', body: bodyOf(ErasureRequest), detail: docs.requestErasure },
      )
      // Elysia gives null for an id with broken percent-encoding.
      .get(
        '/:id',
        ({ caller: { projectId, scope }, params }) =>
          // A key of knowledge learns nothing of calls.
          erasureReceipts.get(projectId, params.id ?? '', { ofItems: scope === 'knowledge' }),
        { detail: docs.getErasure },
      )
  )
}
