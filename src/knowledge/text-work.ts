import { AppError } from '../errors.ts'
import { Thread } from '../threads/thread.ts'
import { type ChunkRows, toChunkRows } from './chunking/chunk-rows.ts'
import type { TextApi } from './text-worker.ts'

/** A shorter text is cut up where it is: that takes less time than sending it. */
const inlineCharsMax = 8_192
/** Texts waiting to be cut up; beyond it one is refused at once instead of growing memory. */
const textsWaitingMax = 64
const embeddingNiceness = 5

/**
 * Cutting up a document of 150 KB takes 8 ms and embedding its chunks 25 ms, in which no request would be
 * answered: threads do both. Somebody waits for the first, and nobody has to for the second, so each has its own.
 */
export class TextWork {
  readonly #cutting = openThread('The cutting of texts', 0)
  readonly #embedding = openThread('The built-in embedder', embeddingNiceness)
  #textsWaiting = 0

  /** See chunk-rows.ts. @throws unavailable when too many long texts wait already */
  async toChunkRows(text: string): Promise<ChunkRows> {
    if (text.length <= inlineCharsMax) return toChunkRows(text)
    if (this.isFull) throw tooManyTexts()
    this.#textsWaiting++
    try {
      return await this.#cutting.ask('toChunkRows', text)
    } finally {
      this.#textsWaiting--
    }
  }

  /** Whether one more long text would be refused. */
  get isFull(): boolean {
    return this.#textsWaiting >= textsWaitingMax
  }

  /** Whether a request's body may hold a text that has to wait for the others. */
  isLong(bodyBytes: number): boolean {
    return bodyBytes > inlineCharsMax
  }

  /** What the built-in embedder makes of documents. */
  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return this.#embedding.ask('embed', texts)
  }

  async close(): Promise<void> {
    await Promise.all([this.#cutting.close(), this.#embedding.close()])
  }
}

/** @param niceness 0 is normal, 19 lets every other thread go before this one */
function openThread(name: string, niceness: number): Thread<TextApi, { niceness: number }> {
  return new Thread({
    script: new URL('./text-worker.ts', import.meta.url),
    name,
    data: () => ({ niceness }),
  })
}

export function tooManyTexts(): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail: 'Too many long texts are waiting to be cut up; nothing was stored.',
    retryAfterSeconds: 1,
  })
}
