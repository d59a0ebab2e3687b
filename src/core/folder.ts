import { accessSync, chmodSync, constants, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { FolderOwner } from '../db/folder-owner.ts'

/** Makes the data folder, private to this user, and takes it if it is free. */
export async function openFolder(
  folder: string,
  { takesFolder, ownerWaitMs }: { takesFolder: boolean; ownerWaitMs: number },
): Promise<FolderOwner> {
  try {
    for (const inner of ['indexes', join('recordings', 'incoming')])
      mkdirSync(join(folder, inner), { recursive: true, mode: 0o700 })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`DATA_DIR ${folder} cannot be used: ${why}`, { cause })
  }
  try {
    chmodSync(folder, 0o700)
  } catch {
    // The folder belongs to another user, such as a mounted volume. Our files in it are 0600 all the same.
  }
  const owner = new FolderOwner(folder)
  if (takesFolder) await owner.take(ownerWaitMs)
  return owner
}

/**
 * SQLite opens a file's shared memory once for the whole process: where it could only be read, no write would succeed
 * until a restart, even when the disk takes writes again.
 * @throws when the folder or the database in it is read-only
 */
export function refuseReadOnly(folder: string, file: string | null): void {
  const paths = file === null ? [folder] : [folder, file, `${file}-shm`]
  const path = paths.find((one) => !isWritable(one))
  if (path !== undefined) throw new Error(`${path} is read-only for the user who runs the service`)
}

/** Answers for what does not exist yet, too. */
export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
  }
}

/** Bytes of a database file and of its log; null for a database on a server. */
export function sizesOf(file: string): { file: number; log: number } | null {
  const bytesOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return file === '' ? null : { file: bytesOf(file), log: bytesOf(`${file}-wal`) }
}
