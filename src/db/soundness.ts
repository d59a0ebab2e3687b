import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Thread } from '../threads/thread.ts'
import type { SoundnessApi } from './soundness-worker.ts'

/** How long a start waits for the check. A large file is checked further while the service runs. */
const waitMs = 1_000

/**
 * Refuses a damaged database before anything is written to it, which would make the damage worse.
 * @param onLateDamage called when damage is found after this has resolved
 * @throws when the file is damaged
 */
export async function refuseDamaged(file: string, onLateDamage: (error: Error) => void): Promise<void> {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const thread = new Thread<SoundnessApi>({
    script: new URL('./soundness-worker.ts', import.meta.url),
    name: 'The check of the database',
    data: () => undefined,
    keepsProcess: false,
  })
  const check = async () => {
    const damage = await thread.ask('findDamage', file)
    void thread.close()
    if (damage === null) return null
    const reason = damage.replace(/\s+/g, ' ').slice(0, 200)
    return new Error(
      `The database ${file} is damaged (${reason}). Nothing was written to it. Keep a copy of it and of the files ` +
        'beside it, and restore the newest backup: bun callbook restore FOLDER',
    )
  }
  const checked = check()
  const late = Symbol('late')
  // The timer keeps the process alive meanwhile, which on Node nothing else does.
  const waiting = new AbortController()
  const found = await Promise.race([checked, sleep(waitMs, late, { signal: waiting.signal })])
  waiting.abort()
  if (found instanceof Error) throw found
  if (found === late) checked.then((error) => error && onLateDamage(error)).catch(() => undefined)
}
