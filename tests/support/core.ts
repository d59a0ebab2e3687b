import { loadConfig } from '../../src/config.ts'
import { type Core, coreOf } from '../../src/core/core.ts'
import { readSecrets } from '../../src/db/meta.ts'
import type { OpenDatabase } from '../../src/db/open.ts'
import { logTo } from './part-log.ts'

/** The core over a database, as its owner has it, for a test that makes a part by hand. */
export async function coreOver(database: OpenDatabase, onError: (error: unknown) => void): Promise<Core> {
  return coreOf({
    config: loadConfig({ DATA_DIR: '/nowhere', ERASE_WITHIN_MS: '100' }, false),
    log: { ...logTo(onError), info: () => undefined },
    role: 'service',
    takesFolder: true,
    owner: {
      isOwner: true,
      take: async () => undefined,
      stopWaiting() {},
      release() {},
      takeLater() {},
      listensAt() {},
    },
    volume: { close: async () => undefined },
    database,
    secrets: await readSecrets(database.read, database.write),
    address: 'http://callbook.test',
    now: Date.now,
  })
}

/** A core with only the members that the part under test uses. */
export function coreWith(members: Partial<Core>): Core {
  return members as Core
}

/** The same core, with jobs of its own, and whatever a test has otherwise. */
export function coreLike(core: Core, other: Partial<Core>): Core {
  return {
    ...coreOf({ ...core, secrets: secretsOf(core), database: { ...core.database, onCommit() {} } }),
    ...other,
  }
}

function secretsOf({ linkSecret, sessionSecret, generation }: Core) {
  return { idHashKey: linkSecret, sessionSecret, generation }
}
