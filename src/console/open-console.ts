import type { Core } from '../core/core.ts'
import { readLastBackup } from '../db/backup-note.ts'
import type { Embedder } from '../knowledge/embedding/embedder.ts'
import { version } from '../version.ts'
import { ServiceState } from './operator/service-state.ts'
import { Views } from './views.ts'

interface Beside {
  embedder: Embedder
  /** Where calls are sent for analysis; null without a model. */
  chat: { destination: string } | null
  keys: { requestsOf(keyId: string): number }
  problem: () => Promise<string | null>
}

/** What only the console shows. */
export function openConsole(core: Core, { embedder, chat, keys, problem }: Beside) {
  const { config, database, now } = core
  const readBackup = () => readLastBackup(config.dataDir)
  return {
    views: new Views(core),
    serviceState: new ServiceState({
      version,
      startedAt: now(),
      database,
      problem,
      embedder,
      model: chat,
      requestsOf: (keyId) => keys.requestsOf(keyId),
      readLastBackup: readBackup,
      now,
    }),
  }
}
