import type { AuditTrail } from '../../audit/audit-trail.ts'
import type { OidcConfig } from '../../config.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import type { WriteDatabase } from '../../db/write-database.ts'

/** What every part that keeps people, their sessions and their links works with. */
export interface PeopleOptions {
  read: ReadDatabase
  write: WriteDatabase
  audit: AuditTrail
  now: () => number
  /** The provider at which people can sign in instead of with a password; null for none. */
  oidc: OidcConfig | null
}
