import { setTimeout as sleep } from 'node:timers/promises'

/** How long an attempt blocks other writes. It grows, since queries that overlap leave no gap for a short attempt. */
const holdUpMs = { min: 50, max: 1_500 }
/** How long the writer is free for others between two attempts. */
const waitMs = { min: 100, max: 2_000 }
/** All attempts take about five minutes. */
const attemptsMax = 100

/**
 * Moves the contents of the write-ahead log into the database and empties the log. A running query prevents that, and a
 * backup does so for minutes, so it is attempted again and again.
 * @param tryOnce see Writer.emptyLog
 * @throws the reason of `signal` once that is aborted
 */
export async function emptyWriteAheadLog(
  tryOnce: (holdUpMs: number) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    signal.throwIfAborted()
    if (await tryOnce(Math.min(holdUpMs.min * 2 ** attempt, holdUpMs.max))) return
    const delayMs = Math.min(waitMs.min * 2 ** attempt, waitMs.max)
    await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
  throw new Error('The write-ahead log could not be emptied: a long query or backup is reading the database')
}
