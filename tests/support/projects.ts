import { createRecordHash } from '../../src/db/record-hash.ts'
import type { Store } from '../../src/db/store.ts'
import { Projects } from '../../src/projects/projects.ts'

/** Projects of a database without services around it: what is removed is left to nobody. */
export function projectsOf({ read, write }: Store): Projects {
  return new Projects({
    read,
    write,
    recordHash: createRecordHash('key'),
    onRemoved: () => undefined,
    now: Date.now,
  })
}
