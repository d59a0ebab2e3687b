import { createConsole } from './console.ts'
import { Lifecycle } from './lifecycle.ts'
import { createParts, openCommon, openIndexing, type ServicesOptions } from './parts.ts'

export type Services = Awaited<ReturnType<typeof openServices>>

/** Opens the database, and makes all parts of the service or of a command. */
export async function openServices({ role, takesFolder = role === 'service', ...options }: ServicesOptions) {
  const common = await openCommon({ ...options, role, takesFolder })
  const parts = createParts(common, await openIndexing(common, role), role)
  const lifecycle = new Lifecycle({ ...common, ...parts, takesFolder })
  const { owner, config, log, database, settingsOf, recordHash } = common
  return {
    ...parts,
    config,
    log,
    database,
    settingsOf,
    recordHash,
    console: createConsole(common, parts),
    start: () => lifecycle.start(),
    notReadyBecause: () => lifecycle.notReadyBecause(),
    staleBecause: () => lifecycle.staleBecause(),
    close: () => lifecycle.close(),
    /** Whether this process is the one that saves index files and erases deletions in this folder. */
    get ownsFolder() {
      return owner.isOwner
    },
    /** Tells commands where this process listens. */
    listensAt: (address: string) => {
      common.site.address = address
      owner.listensAt(address)
    },
  }
}
