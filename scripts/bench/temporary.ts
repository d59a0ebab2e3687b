import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder, removed with all others of this run at its end. */
export function temporaryFolder(): string {
  mkdirSync(runFolder(), { recursive: true, mode: 0o700 })
  return mkdtempSync(join(runFolder(), 'folder-'))
}

/** Also what an interrupted run was about to remove. */
export function removeTemporaryFolders(): void {
  rmSync(runFolder(), { recursive: true, force: true })
}

function runFolder(): string {
  return join(tmpdir(), `callbook-bench-run-${process.pid}`)
}
