import { textParam } from '../../search-params.ts'

/** What the audit trail is filtered by, as the address has it. Times are ISO 8601. */
export interface AuditSearch {
  /** The id of a person or a key; `commandLine`, `service` or `stranger`. */
  who?: string
  action?: string
  from?: string
  to?: string
  /** The id of a call. */
  call?: string
}

const names = ['who', 'action', 'from', 'to', 'call'] as const

/** The filters that an address has. */
export function auditSearch(search: Record<string, unknown>): AuditSearch {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = textParam(search[name])
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
