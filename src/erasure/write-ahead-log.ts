import { setTimeout as sleep } from 'node:timers/promises'

/** How long others wait behind a try: longer each time, since queries that follow each other leave no moment between. */
const holdUpMs = { min: 50, max: 1_500 }
/** How long the writer is free between two tries. */
const waitMs = { min: 100, max: 2_000 }
/** Some five minutes. */
const triesMax = 100

/**
 * Moves what the write-ahead log holds into the database and leaves the log empty. Whoever reads prevents that as long
 * as the query takes, a backup for minutes: the writer is free for others between the tries.
 * @param tryOnce see Writer.emptyLog
 * @throws the reason of `signal` once that is aborted
 */
export async function emptyWriteAheadLog(
  tryOnce: (holdUpMs: number) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; attempt < triesMax; attempt++) {
    signal.throwIfAborted()
    if (await tryOnce(Math.min(holdUpMs.min * 2 ** attempt, holdUpMs.max))) return
    const delayMs = Math.min(waitMs.min * 2 ** attempt, waitMs.max)
    await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
  throw new Error('The write-ahead log could not be emptied: something keeps reading the database')
}
