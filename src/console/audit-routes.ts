import type { AuditTrail } from '../audit/audit-trail.ts'
import { bodyOf } from '../validation.ts'
import { type AuditFilterParts, filterOf } from './audit-filter.ts'
import { consoleRoutes } from './console-routes.ts'
import { limitOf } from './page-request.ts'
import { AuditRequest } from './schemas.ts'

export interface AuditRoutesOptions extends AuditFilterParts {
  console: { readonly audit: AuditTrail }
}

const csvHeaders = {
  'Content-Type': 'text/csv; charset=utf-8',
  'Content-Disposition': 'attachment; filename="audit-trail.csv"',
  'Cache-Control': 'no-store',
}

/** /console/api/projects/:project/audit: the audit trail, for owners. */
export function auditRoutes({ console: { audit }, recordHash }: AuditRoutesOptions) {
  return consoleRoutes('/console/api/projects/:project/audit')
    .get(
      '',
      ({ member: { projectId }, query }) =>
        audit.list(
          projectId,
          { ...query, limit: limitOf(query.limit) },
          filterOf(projectId, query, { recordHash }),
        ),
      { query: bodyOf(AuditRequest) },
    )
    .get(
      '/csv',
      ({ member: { projectId }, query }) =>
        new Response(streamOf(audit.csv(projectId, filterOf(projectId, query, { recordHash }))), {
          headers: csvHeaders,
        }),
      { query: bodyOf(AuditRequest) },
    )
}

function streamOf(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(Buffer.from(value))
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}
