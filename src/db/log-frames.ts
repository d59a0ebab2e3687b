import { closeSync, openSync, readSync } from 'node:fs'

const headerBytes = 32
const frameHeaderBytes = 24
const saltsAt = { header: 16, frame: 8 }
/** A quarter of a megabyte, which stays in the processor's cache. */
const framesPerRead = 64

/** What the log's header says. Each time the log begins anew, it has another salt. */
export interface LogHeader {
  salt: string
  pageBytes: number
}

/**
 * Reads a write-ahead log from its file. SQLite locks the database file and never this one, so closing it here loses no
 * lock. https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
export class LogFrames {
  readonly #path: string
  #file: number | null = null
  #part = Buffer.alloc(0)
  readonly #header = Buffer.alloc(headerBytes)

  constructor(databaseFile: string) {
    this.#path = `${databaseFile}-wal`
  }

  /** Null when the log is empty or not there. */
  header(): LogHeader | null {
    if (this.#read(this.#header, 0) < headerBytes) return null
    const [salt, pageBytes] = [this.#header.toString('hex', saltsAt.header, 24), this.#header.readUInt32BE(8)]
    return { salt, pageBytes }
  }

  /** Whether there is a frame after this many, committed or not. */
  hasMoreThan(frames: number, { salt, pageBytes }: LogHeader): boolean {
    const frame = this.#header.subarray(0, frameHeaderBytes)
    const at = headerBytes + frames * (frameHeaderBytes + pageBytes)
    return this.#read(frame, at) === frameHeaderBytes && frame.toString('hex', saltsAt.frame, 16) === salt
  }

  /**
   * Visits the pages in the frames after the first `skipped` ones, also those that a failed transaction has left.
   * @returns the number of frames up to the last commit
   */
  visit(
    { salt, pageBytes }: LogHeader,
    skipped: number,
    visit: (page: number, data: Buffer) => void,
  ): number {
    const frameBytes = frameHeaderBytes + pageBytes
    const [first, second] = [Number.parseInt(salt.slice(0, 8), 16), Number.parseInt(salt.slice(8), 16)]
    if (this.#part.length !== framesPerRead * frameBytes)
      this.#part = Buffer.alloc(framesPerRead * frameBytes)
    const part = this.#part
    for (let [frame, committed] = [skipped, skipped]; ; ) {
      const bytes = this.#read(part, headerBytes + frame * frameBytes)
      let at = 0
      for (; at + frameBytes <= bytes; at += frameBytes) {
        const isOfThisLog =
          part.readUInt32BE(at + saltsAt.frame) === first &&
          part.readUInt32BE(at + saltsAt.frame + 4) === second
        if (!isOfThisLog) break
        frame++
        if (part.readUInt32BE(at + 4) > 0) committed = frame
        visit(part.readUInt32BE(at), part.subarray(at + frameHeaderBytes, at + frameBytes))
      }
      if (at < part.length) return committed
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  /** @returns the bytes read: fewer at the end of the file */
  #read(buffer: Buffer, at: number): number {
    try {
      this.#file ??= openSync(this.#path, 'r')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
      throw error
    }
    return readSync(this.#file, buffer, 0, buffer.length, at)
  }
}
