import { randomFillSync } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const bytesMax = 8 * 1024 * 1024
const partBytes = 64 * 1024
/** A small disk should hold records, not ballast. */
const shareOfFreeMax = 0.1
/** Free space, as a multiple of the file, that must be there before the file is made again. */
const freeFactorMin = 1.25
const retryMs = 1_000

/**
 * A file that takes up space. Deletions must work on a full disk, and need some space themselves: for the log, and for
 * emptying the log into the database. They get it by deleting this file. Until there is room to make the file again,
 * only writes that free space are accepted.
 */
export class BallastFile {
  readonly #path: string
  /** Its full size; 0 until `keep` is called. */
  #bytes = 0
  #isReleased = false
  #triedAt = Number.NEGATIVE_INFINITY

  constructor(databaseFile: string) {
    this.#path = `${databaseFile}-ballast`
  }

  /** The space that deletions can have; 0 until `keep` is called. */
  get bytes(): number {
    return this.#bytes
  }

  /** Makes the file unless it is there. Only the process that owns the folder calls this. */
  keep(): void {
    const held = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
    this.#bytes = Math.max(held, Math.min(bytesMax, this.#free() * shareOfFreeMax))
    this.#isReleased = held < this.#bytes && !this.#make()
  }

  /** Whether writes that do not free space may run. Makes a released file again once there is room for it. */
  hasRoom(): boolean {
    if (!this.#isReleased) return true
    const now = performance.now()
    if (now < this.#triedAt + retryMs) return false
    this.#triedAt = now
    this.#isReleased = this.#free() < this.#bytes * freeFactorMin || !this.#make()
    return !this.#isReleased
  }

  /** Deletes the file, for a write that frees space. */
  release(): void {
    rmSync(this.#path, { force: true })
    this.#isReleased = this.#bytes > 0
  }

  #make(): boolean {
    try {
      // Random bytes, which no file system compresses.
      const part = randomFillSync(Buffer.alloc(partBytes))
      const file = openSync(this.#path, 'w', 0o600)
      try {
        for (let done = 0; done < this.#bytes; done += partBytes) writeSync(file, part)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      return true
    } catch {
      // The disk is full: leave what is free to others.
      rmSync(this.#path, { force: true })
      return false
    }
  }

  #free(): number {
    const { bavail, bsize } = statfsSync(dirname(this.#path))
    return Number(bavail) * Number(bsize)
  }
}
