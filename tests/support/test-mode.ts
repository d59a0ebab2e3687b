import { rmSync } from 'node:fs'
import { type Primary, startPrimary } from './primary.ts'

/** Where the tests' services keep their rows; CALLBOOK_TEST_MODE says so. `bun run test:modes` runs the other two. */
export const testMode = readMode(process.env.CALLBOOK_TEST_MODE)

/**
 * For tests that hold in file mode only: what is left in files and pages, a full disk, a database file of an earlier
 * version, what takes a write of a local file to be instant, and what starts processes on a bare folder.
 */
export const ofFilesOnly = testMode !== 'file'

/** Replicas in tests need not wait a second for what another node wrote. */
const syncIntervalMs = '100'

export interface TestDatabase {
  /** Settings as in the environment. */
  env: Record<string, string>
  /** Ends the server when the last service of the folder has let go of it. */
  release(): Promise<void>
}

interface Shared {
  primary: Promise<Primary>
  users: number
}

/** Servers by the data folder of the services that use them: a folder opened again has the rows that it had. */
const servers = new Map<string, Shared>()

/** The database of a service in this folder, in the mode that is being tested. */
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

/** For what joins a service that runs in this folder. */
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
