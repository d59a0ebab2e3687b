import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../src/config.ts'
import { FolderLock } from '../../src/db/folder-lock.ts'
import { addressFileName } from '../../src/db/folder-owner.ts'

/** Whether a service runs on the folder. It then embeds, indexes and erases there. */
export function hasOwner({ dataDir }: Config): boolean {
  // Looking for it must make nothing in a folder that may be the wrong one.
  if (!existsSync(join(dataDir, 'owner.lock'))) return false
  const lock = FolderLock.tryAcquire(dataDir, 'owner')
  lock?.release()
  return lock === null
}

/** Where the folder's service listens; null if none runs. */
function servedAt(config: Config): string | null {
  if (!hasOwner(config)) return null
  try {
    return readFileSync(join(config.dataDir, addressFileName), 'utf8') || null
  } catch {
    // The service is still starting, or could not write the file.
    return null
  }
}

/** Where people reach the service: PUBLIC_URL, or else where the folder's service listens, or would. */
export function consoleOrigin(config: Config): string {
  const { publicUrl, host, port } = config
  return publicUrl ?? servedAt(config) ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
