import { Thread } from '../../threads/thread.ts'
import type { TextMatchApi } from './text-match-worker.ts'

const idleMs = 60_000
const waitingMax = 64

/** Finds where words stand in calls, on a thread of its own: reading a long call must not delay the main thread. */
export type TextMatcher = Thread<TextMatchApi>

export function openTextMatcher(): TextMatcher {
  const script = new URL('./text-match-worker.ts', import.meta.url)
  return new Thread({ script, name: 'The reader of found calls', data: () => undefined, idleMs, waitingMax })
}
