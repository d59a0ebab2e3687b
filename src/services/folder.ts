import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FolderOwner } from '../db/folder-owner.ts'

/** Makes the data folder, private to this user, and takes it if it is free. */
export async function openFolder(
  folder: string,
  { takesFolder, ownerWaitMs }: { takesFolder: boolean; ownerWaitMs: number },
): Promise<FolderOwner> {
  mkdirSync(join(folder, 'indexes'), { recursive: true, mode: 0o700 })
  try {
    chmodSync(folder, 0o700)
  } catch {
    // The folder belongs to another user, such as a mounted volume. Our files in it are 0600 all the same.
  }
  const owner = new FolderOwner(folder)
  if (takesFolder) await owner.take(ownerWaitMs)
  return owner
}
