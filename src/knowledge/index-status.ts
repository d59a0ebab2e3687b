/** How far an item's chunks are embedded and indexed. */
export type IndexStatus =
  | { state: 'ready' }
  | { state: 'indexing'; ready: number }
  /** `reason` is the last error; `nextTryAt` is null when the next attempt is due. */
  | { state: 'waiting'; ready: number; reason: string; nextTryAt: string | null }

/** What an item's chunks without a vector say, taken together. */
export interface PendingChunks {
  pending: number
  /** Those of them that were never tried. */
  untried: number
  /** Milliseconds since 1970: when the first of them is due. */
  nextTryAt: number | null
  /** Why the one that is due first failed the last time. */
  lastError: string | null
}

/** How far an item of so many chunks is indexed. It waits when all that is left has failed at least once. */
export function indexStatus(chunks: number, left: PendingChunks | undefined, now: number): IndexStatus {
  if (!left || left.pending === 0) return { state: 'ready' }
  const ready = chunks - left.pending
  if (left.untried > 0) return { state: 'indexing', ready }
  const isDue = left.nextTryAt === null || left.nextTryAt <= now
  return {
    state: 'waiting',
    ready,
    reason: asSentence(left.lastError ?? 'The last attempt failed'),
    nextTryAt: isDue ? null : new Date(left.nextTryAt ?? now).toISOString(),
  }
}

function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
