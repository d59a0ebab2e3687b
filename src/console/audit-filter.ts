import type { AuditFilter } from '../audit/audit-trail.ts'
import type { RecordHash } from '../db/record-hash.ts'
import { type FieldError, invalidRequest } from '../errors.ts'
import type { AuditRequest } from './schemas.ts'

export interface AuditFilterParts {
  recordHash: RecordHash
}

/** The filter that a query string asks for. @throws invalid_request naming each time that cannot be read */
export function filterOf(
  projectId: number,
  { who, action, from, to, call }: typeof AuditRequest.static,
  { recordHash }: AuditFilterParts,
): AuditFilter {
  const errors: FieldError[] = []
  const timeOf = (field: string, text: string | undefined) => {
    if (!text) return undefined
    const time = Date.parse(text)
    if (Number.isNaN(time)) errors.push({ field, message: 'must be an ISO 8601 time' })
    return time
  }
  const times = { from: timeOf('from', from), to: timeOf('to', to) }
  if (errors.length > 0) throw invalidRequest(errors)
  const target = call ? recordHash(projectId, 'call', call) : undefined
  return { ...times, who: who || undefined, action: action || undefined, target }
}
