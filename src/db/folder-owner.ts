import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Background } from '../threads/background.ts'
import { FolderLock } from './folder-lock.ts'

const lockName = 'owner'
const retryMs = 250
/** The file that tells commands where the folder's service listens. */
export const addressFileName = 'address'

/**
 * Whether this process owns the data folder. Of the processes that share it, the owner saves index files, erases
 * deletions and syncs a replica. When the owner dies, another process takes its place.
 */
export class FolderOwner {
  readonly #folder: string
  #lock: FolderLock | null = null
  readonly #waiting: Background
  #onTaken = () => {}
  #address: string | null = null

  constructor(folder: string) {
    this.#folder = folder
    this.#waiting = new Background({
      work: async () => this.#tryTaking(),
      delayMs: retryMs,
      retryMs,
      // The folder may fail to open for a moment, such as when there are too many open files.
      onFailure: () => undefined,
    })
  }

  get isOwner(): boolean {
    return this.#lock !== null
  }

  /** Tries for a while, since a command may hold the folder for a moment. */
  async take(withinMs: number): Promise<void> {
    try {
      this.#lock = await FolderLock.acquire(this.#folder, lockName, withinMs)
      this.#tellAddress()
    } catch {
      // Another service owns the folder. This one serves requests and leaves files and erasures to it.
    }
  }

  /** Takes the folder as soon as it is free, then calls `onTaken`. */
  takeLater(onTaken: () => void): void {
    if (this.#lock) return
    this.#onTaken = onTaken
    this.#waiting.soon()
  }

  /** Tells commands where this process listens, once it owns the folder. */
  listensAt(address: string): void {
    this.#address = address
    this.#tellAddress()
  }

  /** Stops waiting for the folder, so that a process that closes does not start the owner's work. */
  stopWaiting(): void {
    void this.#waiting.close()
  }

  release(): void {
    this.stopWaiting()
    this.#lock?.release()
    this.#lock = null
  }

  #tryTaking(): number | null {
    this.#lock = FolderLock.tryAcquire(this.#folder, lockName)
    if (!this.#lock) return retryMs
    this.#tellAddress()
    this.#onTaken()
    return null
  }

  #tellAddress(): void {
    if (!this.isOwner) return
    const file = join(this.#folder, addressFileName)
    try {
      // That of an earlier owner, who may have been killed.
      rmSync(file, { force: true })
      if (this.#address !== null) writeFileSync(file, this.#address, { mode: 0o600 })
    } catch {
      // A full disk or a read-only folder: commands then name the configured address.
    }
  }
}
