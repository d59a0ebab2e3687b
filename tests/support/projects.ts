import type { OpenDatabase } from '../../src/db/open.ts'
import { createRecordHash } from '../../src/db/record-hash.ts'
import { Projects } from '../../src/projects/projects.ts'
import { auditOf } from './audit.ts'
import { coreWith } from './core.ts'

/** Projects of a database without services, so that nothing erases removed ones. */
export function projectsOf({
  read,
  write,
  writeWhenFull,
}: Pick<OpenDatabase, 'read' | 'write' | 'writeWhenFull'>): Projects {
  const audit = auditOf({ read, write })
  const recordHash = createRecordHash('key')
  const core = coreWith({ read, write, writeWhenFull, audit, recordHash, now: Date.now })
  return new Projects(core, { projectErasure: { schedule: () => undefined } })
}
