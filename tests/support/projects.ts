import type { OpenDatabase } from '../../src/db/open.ts'
import { createRecordHash } from '../../src/db/record-hash.ts'
import { Projects } from '../../src/projects/projects.ts'
import { auditOf } from './audit.ts'

/** Projects of a database without services, so that nothing erases removed ones. */
export function projectsOf({
  read,
  write,
  writeWhenFull,
}: Pick<OpenDatabase, 'read' | 'write' | 'writeWhenFull'>): Projects {
  return new Projects({
    read,
    write,
    writeWhenFull,
    audit: auditOf({ read, write }),
    recordHash: createRecordHash('key'),
    projectErasure: { schedule: () => undefined },
    now: Date.now,
  })
}
