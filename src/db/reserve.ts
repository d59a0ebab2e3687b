import { randomFillSync } from 'node:crypto'
import { closeSync, fsyncSync, openSync, statfsSync, statSync, truncateSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const bytesMax = 8 * 1024 * 1024
const partBytes = 64 * 1024
/** A small disk is not filled with what is kept from others. */
const shareOfFreeMax = 0.1
/** Room beside it, without which it would be made only to be given away again. */
const roomBesideIt = 1.25
const looksEveryMs = 1_000

/**
 * A file that holds nothing but room. On a full disk a deletion is the one thing that must still work, and it needs
 * some: for the log, and for emptying the log into the database. Then the file gives way: it is left there empty, which
 * tells every process on the database to write only what frees space until there is room for the file again.
 */
export class Reserve {
  readonly #path: string
  /** Whether it is this process that makes the file. */
  #keeps = false
  /** What it has when it is whole, as far as that is known here. */
  #bytes = bytesMax
  #lookedAt = Number.NEGATIVE_INFINITY
  #sawRoom = false

  constructor(databaseFile: string) {
    this.#path = `${databaseFile}-reserve`
  }

  /** Makes the file, if it is not there; only in the process that owns the folder. */
  keep(): void {
    this.#keeps = true
    const held = sizeOf(this.#path) ?? 0
    this.#bytes = Math.max(held, Math.min(bytesMax, this.#free() * shareOfFreeMax))
    if (held < this.#bytes) this.#make()
  }

  /** Whether there is, or can be again, room for what does not free any. */
  hasRoom(): boolean {
    const held = sizeOf(this.#path)
    if (held === null) return true
    if (held > 0) {
      this.#bytes = held
      return true
    }
    const now = performance.now()
    if (now < this.#lookedAt + looksEveryMs) return this.#sawRoom
    this.#lookedAt = now
    this.#sawRoom = this.#free() >= this.#bytes * roomBesideIt && (!this.#keeps || this.#make())
    return this.#sawRoom
  }

  /** Gives the room to whoever frees some. */
  release(): void {
    if (sizeOf(this.#path) === null) return
    truncateSync(this.#path)
    this.#sawRoom = false
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
      this.release()
      return false
    }
  }

  #free(): number {
    const { bavail, bsize } = statfsSync(dirname(this.#path))
    return Number(bavail) * Number(bsize)
  }
}

/** Null when there is no such file. */
function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null
}
