import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder. It is removed after the case, or when the run ends. */
export function temporaryFolder(lifetime: 'case' | 'run' = 'case'): string {
  const parent = join(runFolder(), lifetime)
  // Servers of other users have their folders here, too.
  mkdirSync(parent, { recursive: true, mode: 0o711 })
  return mkdtempSync(join(parent, 'folder-'))
}

/** Removes the temporary folders of a case, or all of this run. */
export function removeTemporaryFolders(lifetime: 'case' | 'run'): void {
  const folder = lifetime === 'run' ? runFolder() : join(runFolder(), lifetime)
  rmSync(folder, { recursive: true, force: true })
}

function runFolder(): string {
  return join(tmpdir(), `callbook-run-${process.pid}`)
}
