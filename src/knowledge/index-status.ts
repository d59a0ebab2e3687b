/** How far an item's chunks are embedded and indexed. */
export type IndexStatus =
  | { state: 'ready' }
  | { state: 'indexing'; ready: number }
  /** `reason` is the last error; `nextTryAt` is null when the next attempt is due. */
  | { state: 'waiting'; ready: number; reason: string; nextTryAt: string | null }

/** What is known of an item's chunks without a vector. */
export interface PendingChunks {
  pending: number
  /** How many of them were never tried. */
  untried: number
  /** When the first of them is due, in milliseconds since 1970. */
  nextTryAt: number | null
  /** The last failure of the chunk that is due first. */
  lastError: string | null
}

/** How far an item is indexed. It is `waiting` when every pending chunk has failed at least once. */
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
