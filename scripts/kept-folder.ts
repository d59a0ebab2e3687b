import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Holds what takes long to make and is the same for every working copy: packages, generated clients, caches of tools. */
export const keptFolders = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'callbook-tests')

/**
 * Returns the folder that was made from these inputs, and makes it unless an earlier run has. What `make` returns is the
 * reason why it could not.
 *
 * @throws with that reason
 */
export function keptFolder(
  name: string,
  inputs: string,
  make: (folder: string) => string | undefined,
): string {
  const digest = createHash('sha256').update(inputs).digest('hex').slice(0, 16)
  const folder = join(keptFolders, `${name}-${digest}`)
  if (existsSync(folder)) return folder
  mkdirSync(keptFolders, { recursive: true })
  // Beside it, since another run may do the same. A link, since a Python environment cannot be moved.
  const own = mkdtempSync(`${folder}.`)
  const fault = make(own)
  if (fault !== undefined) {
    rmSync(own, { recursive: true, force: true })
    throw new Error(fault)
  }
  try {
    // Of a folder that somebody has removed the link is left.
    if (!existsSync(folder)) rmSync(folder, { force: true })
    symlinkSync(own, folder)
  } catch (error) {
    rmSync(own, { recursive: true, force: true })
    // Another run was faster.
    if (!existsSync(folder)) throw error
  }
  return folder
}
