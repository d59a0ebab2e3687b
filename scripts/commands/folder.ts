import type { Config } from '../../src/config.ts'
import { FolderLock } from '../../src/db/folder-lock.ts'

/** Whether a service runs on the folder. It then embeds, indexes and erases there. */
export function hasOwner({ dataDir }: Config): boolean {
  const lock = FolderLock.tryAcquire(dataDir, 'owner')
  lock?.release()
  return lock === null
}
