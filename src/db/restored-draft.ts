import { rmSync } from 'node:fs'

/** The file in which a restore makes a database, with everything that its backup holds, before it gets its name. */
export function draftOf(target: string): string {
  return `${target}.restored`
}

/** Removes what a restore has left, and what SQLite keeps beside it. */
export function removeDraft(target: string): void {
  const draft = draftOf(target)
  for (const file of [draft, `${draft}.newer`])
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(file + suffix, { force: true })
}
