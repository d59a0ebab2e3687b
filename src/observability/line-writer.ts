import { write } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'

const flushAfterMs = 100
const retryAfterMs = 10
const flushAtChars = 65_536
/** Beyond this limit lines are dropped and counted, so that a log that nobody reads cannot fill the memory. */
const waitingCharsMax = 16_777_216

/** How long `close` waits for a slow reader of the log. */
const closeWithinMs = 2_000

const writeBytes = promisify(write)

/**
 * Buffers log lines and writes them together. It costs 0.1 us a line; pino's own buffered destination costs 2 us, most
 * of it for counting bytes.
 */
export class LineWriter {
  readonly #fd: number
  #lines: string[] = []
  #chars = 0
  #dropped = 0
  /** The write that is under way. */
  #writing: Promise<void> | null = null
  /** Runs while lines wait. */
  #timer: ReturnType<typeof globalThis.setTimeout> | undefined
  #isClosed = false

  constructor(fd: number) {
    this.#fd = fd
  }

  write(line: string): void {
    if (this.#chars > waitingCharsMax) {
      this.#dropped++
      return
    }
    this.#lines.push(line)
    this.#chars += line.length
    if (this.#chars > flushAtChars) this.#flush()
    else this.#flushSoon()
  }

  /** Resolves when everything is written, or after a time limit when nobody reads the log. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await Promise.race([this.#finish(), setTimeout(closeWithinMs)])
    this.#isClosed = true
  }

  async #finish(): Promise<void> {
    while (this.#writing || this.#lines.length > 0) {
      this.#flush()
      await this.#writing
    }
  }

  #flushSoon(): void {
    if (this.#timer) return
    this.#timer = globalThis.setTimeout(() => {
      this.#timer = undefined
      this.#flush()
    }, flushAfterMs)
    this.#timer.unref()
  }

  #flush(): void {
    if (this.#writing || this.#lines.length === 0) return
    this.#writing = this.#writeAll(Buffer.from(this.#take())).finally(() => {
      this.#writing = null
      // Lines that came during the write.
      if (this.#lines.length > 0) this.#flushSoon()
    })
  }

  /** A failed write is ignored: when nobody reads the log any more, there is nowhere to report it. */
  async #writeAll(bytes: Buffer): Promise<void> {
    let at = 0
    while (at < bytes.length && !this.#isClosed) {
      try {
        // A pipe may accept only a part.
        at += (await writeBytes(this.#fd, bytes.subarray(at))).bytesWritten
      } catch (error) {
        const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
        if (!isFull) return
        // The reader of a non-blocking pipe is slow.
        await setTimeout(retryAfterMs, undefined, { ref: false })
      }
    }
  }

  #take(): string {
    if (this.#dropped > 0) {
      this.#lines.push(
        `${JSON.stringify({ level: 'warn', msg: 'log lines dropped', lines: this.#dropped })}\n`,
      )
      this.#dropped = 0
    }
    const text = this.#lines.join('')
    this.#lines = []
    this.#chars = 0
    return text
  }
}
