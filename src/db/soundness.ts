import { once } from 'node:events'
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

/** How long a start waits for the check; of a file that takes longer the rest is looked at behind it. */
const waitMs = 1_000

/**
 * Refuses a damaged database before anything is written to it, which would make the damage worse.
 * @param onLateDamage told of damage found after this has resolved
 * @throws when the file is damaged
 */
export async function refuseDamaged(file: string, onLateDamage: (error: Error) => void): Promise<void> {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const worker = new Worker(new URL('./soundness-worker.ts', import.meta.url), { workerData: { file } })
  worker.unref()
  const checked = once(worker, 'message').then(([damage]: (string | null)[]) => {
    return damage ? damaged(file, damage) : null
  })
  const isLate = Symbol('late')
  const found = await Promise.race([checked, sleep(waitMs, isLate, { ref: false })])
  if (found instanceof Error) throw found
  if (found === isLate) checked.then((error) => error && onLateDamage(error)).catch(() => undefined)
}

function damaged(file: string, damage: string): Error {
  return new Error(
    `The database ${file} is damaged (${damage.replace(/\s+/g, ' ').slice(0, 200)}). Nothing was written to it. Keep a copy of it and ` +
      'of the files beside it, and restore the newest backup: bun callbook restore FOLDER',
  )
}
