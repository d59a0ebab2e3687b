import { Thread } from '../threads/thread.ts'
import type { TextMatch, WeighedText } from './text-match.ts'
import type { TextMatchApi } from './text-match-worker.ts'

const idleMs = 60_000
const waitingMax = 64

/** Finds where words stand in calls, on a thread of its own: reading a long call must not delay the main thread. */
export class TextMatcher {
  readonly #thread = new Thread<TextMatchApi>({
    script: new URL('./text-match-worker.ts', import.meta.url),
    name: 'The reader of found calls',
    data: () => undefined,
    idleMs,
    waitingMax,
  })

  /** @param documents calls as JSON @throws unavailable when too many wait */
  findAll(texts: readonly WeighedText[], documents: readonly string[]): Promise<(TextMatch | null)[]> {
    return this.#thread.ask('findAll', texts, documents)
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }
}
