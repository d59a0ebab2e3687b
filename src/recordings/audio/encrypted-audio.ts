import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { decryptRange, encryptFrame, frameBytes } from '../frames.ts'

/** A recording in a file of this machine. */
export interface EncryptedAudio {
  path: string
  key: Uint8Array
  /** The length of the recording, not of its file. */
  bytes: number
  /** One of those of `media-type.ts`. */
  contentType: string
}

/** What a recording says of itself. */
export interface AudioLength {
  /** Null where only reading all of it would tell. */
  durationSeconds: number | null
  channels: number | null
}

/** Bun collects garbage only while a thread waits; decoders make a lot of it. */
const pauseEveryMs = 40
const pauseMs = 4

/**
 * Reads parts of a recording. It blocks, so it is for worker threads: no read is under way when a worker is terminated.
 */
export class AudioReader {
  readonly bytes: number
  readonly #audio: EncryptedAudio
  readonly #blockBytes: number
  readonly #file: number
  /** What was read last: most parts are a few bytes, one after the other. */
  #block: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) }
  #pausedAt = performance.now()
  /** Why the file could not be read. Other errors are about what it contains. */
  failure: unknown = null

  /** @param blockBytes how much is decrypted at a time */
  constructor(audio: EncryptedAudio, blockBytes = 4 * frameBytes) {
    this.#audio = audio
    this.#blockBytes = blockBytes
    this.bytes = audio.bytes
    this.#file = openSync(audio.path, 'r')
  }

  /** Bytes `start` to `end`, exclusive, or up to the end of the recording. They are valid until the next read. */
  async read(start: number, end: number): Promise<Buffer> {
    const to = Math.min(end, this.bytes)
    if (start >= to) return Buffer.alloc(0)
    if (start < this.#block.start || to > this.#block.start + this.#block.bytes.byteLength)
      await this.#load(start, to)
    return this.#block.bytes.subarray(start - this.#block.start, to - this.#block.start)
  }

  close(): void {
    closeSync(this.#file)
  }

  async #load(start: number, end: number): Promise<void> {
    if (performance.now() - this.#pausedAt > pauseEveryMs) {
      await sleep(pauseMs)
      this.#pausedAt = performance.now()
    }
    const from = start - (start % frameBytes)
    const to = Math.min(this.bytes, Math.max(end, from + this.#blockBytes))
    try {
      const read = async (position: number, length: number) => {
        const bytes = Buffer.allocUnsafe(length)
        return bytes.subarray(0, readSync(this.#file, bytes, 0, length, position))
      }
      this.#block = { start: from, bytes: await decryptRange({ ...this.#audio, read }, from, to) }
    } catch (error) {
      this.failure = error
      throw error
    }
  }
}

/** Writes a recording to a file of this machine, encrypted. It blocks, so it is for worker threads. */
export class AudioWriter {
  readonly #key: Uint8Array
  readonly #file: number
  readonly #frame = Buffer.alloc(frameBytes)
  #frameLength = 0
  #frames = 0
  /** Why the file could not be written. */
  failure: unknown = null

  /** @param path of an empty file */
  constructor({ path, key }: Pick<EncryptedAudio, 'path' | 'key'>) {
    this.#key = key
    this.#file = openSync(path, 'r+')
  }

  /** @returns the length of the recording */
  async write(parts: AsyncIterable<Uint8Array>): Promise<number> {
    let bytes = 0
    for await (const part of parts) {
      bytes += part.byteLength
      for (let at = 0; at < part.byteLength; ) {
        const piece = part.subarray(at, at + frameBytes - this.#frameLength)
        this.#frame.set(piece, this.#frameLength)
        this.#frameLength += piece.byteLength
        at += piece.byteLength
        if (this.#frameLength === frameBytes) this.#writeFrame()
      }
    }
    if (this.#frameLength > 0) this.#writeFrame()
    return bytes
  }

  close(): void {
    closeSync(this.#file)
  }

  #writeFrame(): void {
    const frame = this.#frame.subarray(0, this.#frameLength)
    const stored = Buffer.concat(encryptFrame(this.#key, this.#frames++, frame))
    this.#frameLength = 0
    try {
      for (let at = 0; at < stored.byteLength; ) at += writeSync(this.#file, stored, at)
    } catch (error) {
      this.failure = error
      throw error
    }
  }
}
