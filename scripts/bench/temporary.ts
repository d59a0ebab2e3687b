import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder. It is removed after the case, or when the run ends. */
export function temporaryFolder(): string {
  mkdirSync(runFolder(), { recursive: true, mode: 0o700 })
  return mkdtempSync(join(runFolder(), 'folder-'))
}

/** Removes all temporary folders of this run. */
export function removeTemporaryFolders(): void {
  rmSync(runFolder(), { recursive: true, force: true })
}

function runFolder(): string {
  return join(tmpdir(), `callbook-bench-run-${process.pid}`)
}
