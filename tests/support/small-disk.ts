import { closeSync, openSync, writeSync } from 'node:fs'
import { atEnd, freshFolder } from './at-end.ts'

/** Mounts a disk in memory until the end; null if that is not allowed. */
export function mountSmallDisk(megabytes: number): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null
  const folder = freshFolder()
  const mount = ['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]
  if (!Bun.spawnSync(mount, { stderr: 'ignore' }).success) return null
  // Lazily: libsql closes its files some time after `close()`.
  atEnd(() => Bun.spawnSync(['umount', '--lazy', folder]))
  return folder
}

/** Fills the disk with a file until nothing more fits. */
export function fillDisk(path: string): void {
  const block = Buffer.alloc(4_096, 1)
  const file = openSync(path, 'w')
  try {
    for (;;) writeSync(file, block)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  } finally {
    closeSync(file)
  }
}
