import { freshFolder } from './script.ts'

export interface SmallDisk {
  folder: string
  remove(): void
}

/** A disk of so many megabytes in memory; null where none may be mounted. */
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
