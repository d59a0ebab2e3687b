import type { Holds } from '../calls/keeping/holds.ts'
import type { ErasureRequests } from '../erasure/erasure-requests.ts'
import type { ErasureReceipts } from '../erasure/receipts.ts'
import { ErasureRequest } from '../erasure/schemas.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import { NewHold } from './schemas.ts'

export interface ErasureRoutesOptions {
  erasureRequests: ErasureRequests
  erasureReceipts: ErasureReceipts
  holds: Holds
}

/** /console/api/projects/:project/erasures and /holds, for owners; the holds of one call are for members. */
export function consoleErasureRoutes({ erasureRequests, erasureReceipts, holds }: ErasureRoutesOptions) {
  return consoleRoutes('/console/api/projects/:project')
    .post(
      '/erasures',
      ({ member, by, body }) => erasureRequests.request(member.projectId, body, by),
      jsonBody(ErasureRequest),
    )
    .get('/erasures/:id', ({ member, params }) => erasureReceipts.get(member.projectId, params.id))
    .get('/holds', async ({ member }) => ({ data: await holds.list(member.projectId) }))
    .post(
      '/holds',
      ({ member, person, by, body }) => holds.set(member.projectId, { ...body, createdBy: person.name }, by),
      jsonBody(NewHold),
    )
    .delete('/holds/:id', ({ member, by, params }) => holds.lift(member.projectId, params.id, by))
    .get('/calls/:id/holds', async ({ member, params }) => ({
      data: await holds.ofCall(member.projectId, params.id),
    }))
}
