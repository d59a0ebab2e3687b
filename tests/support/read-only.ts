import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder } from './at-end.ts'

/**
 * Makes everything under a folder read-only or writable again, also for files that are open already, like remounting
 * the disk.
 */
export function setReadOnly(folder: string, isReadOnly: boolean): void {
  // SQLite writes to its `-shm` through a memory mapping: a refusal there is a SIGBUS, which ends the tests' process.
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.endsWith('-shm'),
  )
  Bun.spawnSync(['chattr', isReadOnly ? '+i' : '-i', folder, ...names.map((name) => join(folder, name))])
}

/** Whether this is possible here: it needs root and a file system with immutable files. */
export function canSetReadOnly(): boolean {
  const folder = freshFolder()
  const file = openSync(join(folder, 'open'), 'w')
  try {
    setReadOnly(folder, true)
    writeSync(file, 'refused')
    return false
  } catch {
    // The write was refused, as it should be.
    return true
  } finally {
    closeSync(file)
    setReadOnly(folder, false)
  }
}
