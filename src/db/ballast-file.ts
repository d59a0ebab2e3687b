import { randomFillSync } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** What a deletion needs beside the largest call: the log, and pages of the keyword index. */
const besideCallBytes = 8 * 1024 * 1024
const partBytes = 64 * 1024
/** A small disk should hold records, not ballast. */
const shareOfDiskMax = 0.25
/** The share of its size from which on other writes run. The database may have grown a little into its space. */
const shareMin = 0.5
/** Space left to the log when the file is made, as a share of its size. */
const shareForLog = 0.25
const retryMs = 1_000

/**
 * A file that takes up space. Deletions must work on a full disk, and need some space themselves: for the log, and for
 * emptying the log into the database. They get it by deleting this file. Until there is room to make the file again,
 * only writes that free space are accepted.
 */
export class BallastFile {
  readonly #path: string
  #bytes = 0
  #triedAt = Number.NEGATIVE_INFINITY

  constructor(databaseFile: string) {
    this.#path = `${databaseFile}-ballast`
  }

  /** Its full size; 0 until `keep` is called. */
  get bytes(): number {
    return this.#bytes
  }

  /** Makes the file unless it is there; for the process that owns the folder. */
  keep(bytes: number): void {
    const { blocks, bsize } = statfsSync(dirname(this.#path))
    this.#bytes = Math.min(bytes, blocks * bsize * shareOfDiskMax)
    this.hasRoom()
  }

  /** Whether writes that do not free space may run. Makes a released file again once there is room for it. */
  hasRoom(): boolean {
    const size = this.#size()
    const now = performance.now()
    if (size >= this.#bytes || now < this.#triedAt + retryMs) return size >= this.#bytes * shareMin
    this.#triedAt = now
    const room = size + freeBytesAround(this.#path) - this.#bytes * shareForLog
    if (room >= this.#bytes * shareMin) this.#extend(size, Math.min(this.#bytes, room))
    return this.#size() >= this.#bytes * shareMin
  }

  /** Deletes the file, for a write that frees space. */
  release(): void {
    rmSync(this.#path, { force: true })
  }

  #size(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }

  #extend(size: number, bytes: number): void {
    try {
      // Random bytes, which no file system compresses.
      const part = randomFillSync(Buffer.alloc(partBytes))
      const file = openSync(this.#path, 'a', 0o600)
      try {
        for (let bytesSoFar = size; bytesSoFar < bytes; bytesSoFar += partBytes) writeSync(file, part)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
    } catch {
      // The disk is full: leave what is free to others.
      this.release()
    }
  }
}

/** The size of the file on a disk that is not small. @param callBytesMax the largest call */
export function ballastBytes(callBytesMax: number): number {
  return callBytesMax + besideCallBytes
}

/** The space that this process may still use on the disk of a file. */
export function freeBytesAround(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize
}
