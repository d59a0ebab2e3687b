import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const noteName = 'last-backup.json'

/** The last backup that this folder's commands made. */
export interface LastBackup {
  at: string
  bytes: number
}

/** Notes a whole backup in DATA_DIR, for the service, which does not make it. */
export async function noteBackup(dataDir: string, backup: LastBackup): Promise<void> {
  const path = join(dataDir, noteName)
  await writeFile(`${path}.tmp`, JSON.stringify(backup), { mode: 0o600 })
  await rename(`${path}.tmp`, path)
}

/** Null if none was made from this folder, or the note cannot be read. */
export async function readLastBackup(dataDir: string): Promise<LastBackup | null> {
  try {
    const { at, bytes } = JSON.parse(await readFile(join(dataDir, noteName), 'utf8'))
    return typeof at === 'string' && typeof bytes === 'number' ? { at, bytes } : null
  } catch {
    // No note, or not one that we wrote.
    return null
  }
}
