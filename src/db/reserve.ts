import { randomFillSync } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const bytesMax = 8 * 1024 * 1024
const partBytes = 64 * 1024
/** A small disk is not filled with what is kept from others. */
const shareOfFreeMax = 0.1
/** Room beside it, without which it would be made only to be given away again. */
const roomBesideIt = 1.25
const triesEveryMs = 1_000

/**
 * A file that holds nothing but room. On a full disk a deletion is the one thing that must still work, and it needs
 * some: for the log, and for emptying the log into the database. Then the file gives way, and only what frees space
 * is written until there is room for the file again.
 */
export class Reserve {
  readonly #path: string
  /** What it has when it is whole; 0 until it is kept. */
  #bytes = 0
  #isReleased = false
  #triedAt = Number.NEGATIVE_INFINITY

  constructor(databaseFile: string) {
    this.#path = `${databaseFile}-reserve`
  }

  /** Makes the file, if it is not there; only in the process that owns the folder. */
  keep(): void {
    const held = sizeOf(this.#path)
    this.#bytes = Math.max(held, Math.min(bytesMax, this.#free() * shareOfFreeMax))
    this.#isReleased = held < this.#bytes && !this.#make()
  }

  /** Whether there is, or can be again, room for what does not free any. */
  hasRoom(): boolean {
    if (!this.#isReleased) return true
    const now = performance.now()
    if (now < this.#triedAt + triesEveryMs) return false
    this.#triedAt = now
    this.#isReleased = this.#free() < this.#bytes * roomBesideIt || !this.#make()
    return !this.#isReleased
  }

  /** Gives the room to whoever frees some. */
  release(): void {
    rmSync(this.#path, { force: true })
    this.#isReleased = this.#bytes > 0
  }

  #make(): boolean {
    try {
      // Bytes that no file system stores as fewer.
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
      // The disk is full, and is not to be made fuller.
      rmSync(this.#path, { force: true })
      return false
    }
  }

  #free(): number {
    const { bavail, bsize } = statfsSync(dirname(this.#path))
    return Number(bavail) * Number(bsize)
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
