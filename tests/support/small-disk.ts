import { closeSync, openSync, writeSync } from 'node:fs'
import { freshFolder } from './script.ts'

export interface SmallDisk {
  folder: string
  remove(): void
}

/** Mounts a disk in memory; null if that is not allowed. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null
  const { folder, remove } = freshFolder()
  const mount = ['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]
  if (!Bun.spawnSync(mount, { stderr: 'ignore' }).success) {
    remove()
    return null
  }
  return {
    folder,
    remove() {
      // Lazily: libsql closes its files some time after `close()`.
      Bun.spawnSync(['umount', '--lazy', folder])
      remove()
    },
  }
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
