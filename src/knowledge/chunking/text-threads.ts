import { bulkhead } from 'cockatiel'
import { type AppError, unavailable } from '../../errors.ts'
import { Thread } from '../../threads/thread.ts'
import type { ChunkRows } from './chunk-rows.ts'
import type { TextApi } from './text-worker.ts'

/** Shorter texts are chunked on the main thread: sending them to another would take longer. */
const inlineCharsMax = 8_192
/** Beyond this number, long texts are refused, so that memory stays bounded. */
const textsWaitingMax = 64
const embeddingNiceness = 5
const idleMs = 60_000

/**
 * Chunks and embeds long texts on two threads, so that the main thread keeps answering requests: 150 KB take 8 ms to
 * chunk and 25 ms to embed. Embedding has the lower priority, since requests wait only for chunks.
 */
export class TextThreads {
  readonly #chunking = openThread('The chunker', 0)
  readonly #embedding = openThread('The built-in embedder', embeddingNiceness)
  readonly #chunkingSlots = bulkhead(textsWaitingMax)

  /** @throws unavailable when too many long texts are waiting */
  async toChunkRows(text: string, name: string): Promise<ChunkRows> {
    if (text.length <= inlineCharsMax) {
      // Loaded at the first text: the Markdown parser takes 10 MB.
      const { toChunkRows } = await import('./chunk-rows.ts')
      return toChunkRows(text, name)
    }
    if (this.isFull) throw tooManyTexts()
    return await this.#chunkingSlots.execute(() => this.#chunking.ask('toChunkRows', text, name))
  }

  /** Whether one more long text would be refused. */
  get isFull(): boolean {
    return this.#chunkingSlots.executionSlots === 0
  }

  /** Whether a request's body may hold a text that has to wait for a thread. */
  isLong(bodyBytes: number): boolean {
    return bodyBytes > inlineCharsMax
  }

  /** Embeds documents with the built-in embedder. */
  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return this.#embedding.ask('embed', texts)
  }

  async close(): Promise<void> {
    await Promise.all([this.#chunking.close(), this.#embedding.close()])
  }
}

/** @param niceness the thread's priority: 0 is normal, 19 the lowest */
function openThread(name: string, niceness: number): Thread<TextApi, { niceness: number }> {
  return new Thread({
    script: new URL('./text-worker.ts', import.meta.url),
    name,
    data: () => ({ niceness }),
    idleMs,
  })
}

export function tooManyTexts(): AppError {
  return unavailable('Too many long texts are waiting to be split into chunks. Nothing was stored.')
}
