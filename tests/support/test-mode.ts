import { rmSync } from 'node:fs'
import { type Primary, startPrimary } from './primary.ts'

/** The database mode of the tests' services, from CALLBOOK_TEST_MODE. `bun run test:modes` runs the other two. */
export const testMode = readMode(process.env.CALLBOOK_TEST_MODE)

/**
 * For tests that apply to file mode only: bytes left in files, full disks, files of earlier versions, writes that must
 * be instant, and processes on a new folder.
 */
export const ofFilesOnly = testMode !== 'file'

/** Shorter than the default, so that replicas in tests see the writes of other nodes sooner. */
const syncIntervalMs = '100'

export interface TestDatabase {
  /** Settings as in the environment. */
  env: Record<string, string>
  /** Ends the server when the last service of the folder has released it. */
  release(): Promise<void>
}

interface Shared {
  primary: Promise<Primary>
  users: number
}

/** Servers by data folder, so that a folder that is opened again has the same rows. */
const servers = new Map<string, Shared>()

/** The database of a service in this folder, in the tested mode. */
export async function databaseOf(dataDir: string): Promise<TestDatabase> {
  if (testMode === 'file') return { env: {}, release: async () => undefined }
  const shared = servers.get(dataDir) ?? { primary: startPrimary({ folder: `${dataDir}.primary` }), users: 0 }
  servers.set(dataDir, shared)
  shared.users++
  const { url } = await shared.primary
  return {
    env: settings(url),
    async release() {
      if (--shared.users > 0) return
      servers.delete(dataDir)
      await (await shared.primary).stop()
    },
  }
}

/** For processes beside a service that runs in this folder. */
export async function envOf(dataDir: string): Promise<Record<string, string>> {
  const shared = servers.get(dataDir)
  return shared ? settings((await shared.primary).url) : {}
}

function settings(url: string): Record<string, string> {
  if (testMode === 'remote') return { DATABASE_URL: url }
  return { DATABASE_SYNC_URL: url, DATABASE_SYNC_INTERVAL_MS: syncIntervalMs }
}

process.on('exit', () => {
  for (const dataDir of servers.keys()) rmSync(`${dataDir}.primary`, { recursive: true, force: true })
})

function readMode(value: string | undefined): 'file' | 'remote' | 'replica' {
  return value === 'remote' || value === 'replica' ? value : 'file'
}
