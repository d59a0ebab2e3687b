import { AuditTrail } from '../../src/audit/audit-trail.ts'
import type { OpenDatabase } from '../../src/db/open.ts'
import { createRecordHash } from '../../src/db/record-hash.ts'
import { noFailures } from './part-log.ts'

/** The trail of a database that no service has opened. */
export function auditOf({ read, write }: Pick<OpenDatabase, 'read' | 'write'>): AuditTrail {
  return new AuditTrail({
    read,
    store: () => ({
      read,
      readForSearch: read,
      readInBackground: read,
      readForConsole: read,
      write,
      writeWhenFull: write,
    }),
    write,
    recordHash: createRecordHash('key'),
    now: Date.now,
    log: noFailures,
  })
}
