import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the tests of a file, or a script, have opened, the earliest first. */
const opened: (() => unknown)[] = []

/**
 * Closes something once the tests of the file have run, whether they passed, failed or were left out, and before what
 * was opened earlier. Returns the same for a test that closes it before; it is closed once.
 */
export function atEnd<Result>(close: () => Result): () => Result {
  let closed: { result: Result } | null = null
  const closeOnce = () => {
    closed ??= { result: close() }
    return closed.result
  }
  opened.push(closeOnce)
  return closeOnce
}

/** Done after each file (preload.ts). A script that uses these parts calls it. */
export async function closeOpened(): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close()
}

/** A new folder, which is removed at the end. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'callbook-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
