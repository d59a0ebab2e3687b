import { Background } from '../threads/background.ts'
import { FolderLock } from './folder-lock.ts'

const lockName = 'owner'
const retryMs = 250

/**
 * Whether this process owns the data folder. Of the processes that share it, the owner saves index files, erases
 * deletions and syncs a replica. When the owner dies, another process takes its place.
 */
export class FolderOwner {
  readonly #folder: string
  #lock: FolderLock | null = null
  readonly #waiting: Background
  #onTaken = () => {}

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
    this.#onTaken()
    return null
  }
}
