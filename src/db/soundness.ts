import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Thread } from '../threads/thread.ts'
import { findDamage } from './damage.ts'
import type { SoundnessApi } from './soundness-worker.ts'
import { UnusableDatabase } from './unusable.ts'

/** A larger file is checked while the service runs. These tables come first, because every request depends on them. */
const wholeBytesMax = 16_777_216
const tablesFirst = ['meta', 'projects', 'keys', 'people', 'accounts', 'sessions', 'members']
/** How long writes wait for the check, which takes one or two seconds for half a gigabyte. */
const writesWaitMs = 5_000

/**
 * Refuses a damaged database before anything is written to it, which would make the damage worse.
 * @param onLateDamage called when damage is found after this has returned
 * @returns what writes must wait for: the check of the rest of a large file; rejects when that is damaged
 * @throws when the file is damaged
 */
export function refuseDamaged(
  file: string,
  onLateDamage: (error: Error) => void,
): Promise<unknown> | undefined {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (bytes === 0) return
  const isLarge = bytes > wholeBytesMax
  refuse(file, findDamage(file, isLarge ? tablesFirst : []))
  if (!isLarge) return
  const thread = new Thread<SoundnessApi>({
    script: new URL('./soundness-worker.ts', import.meta.url),
    name: 'The check of the database',
    data: () => undefined,
  })
  const check = thread.ask('findDamage', file).then((damage) => refuse(file, damage))
  check.catch(onLateDamage).finally(() => thread.close())
  const untilSound = Promise.race([check, sleep(writesWaitMs, undefined, { ref: false })])
  untilSound.catch(() => undefined)
  return untilSound
}

function refuse(file: string, damage: string | null): void {
  if (damage === null) return
  const reason = damage.replace(/\s+/g, ' ').slice(0, 200)
  throw new UnusableDatabase(
    `The database ${file} is damaged (${reason}). Nothing was written to it.`,
    'Keep a copy of it and of the files beside it, and restore the newest backup into a new DATA_DIR: bun callbook restore FOLDER',
  )
}
