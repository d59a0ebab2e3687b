import { FolderLock } from './folder-lock.ts'

const lockName = 'owner'
const tryAgainMs = 250

/**
 * Whether this process is the one that owns a folder: of those that share it, one saves index files, scrubs
 * deletions and keeps a replica up to date. When it dies, another takes its place.
 */
export class FolderOwner {
  readonly #folder: string
  #lock: FolderLock | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(folder: string) {
    this.#folder = folder
  }

  get isOwner(): boolean {
    return this.#lock !== null
  }

  /** Tries for a while: a command may hold the folder for a moment; a service that holds it does not let go. */
  async take(withinMs: number): Promise<void> {
    try {
      this.#lock = await FolderLock.acquire(this.#folder, lockName, withinMs)
    } catch {
      // Another process owns it: this one serves, and leaves files and erasures to that one.
    }
  }

  /** Takes the folder as soon as nobody has it, and tells so. */
  takeLater(onTaken: () => void): void {
    if (this.#isClosed || this.#lock) return
    this.#timer = setTimeout(() => {
      this.#lock = this.#tryAcquire()
      if (this.#lock) onTaken()
      else this.takeLater(onTaken)
    }, tryAgainMs)
    this.#timer.unref()
  }

  #tryAcquire(): FolderLock | null {
    try {
      return FolderLock.tryAcquire(this.#folder, lockName)
    } catch {
      // The folder cannot be opened just now: out of files, say. There is a next time.
      return null
    }
  }

  /** Takes the folder no more; whoever closes is not to begin anew what falls to the owner. */
  stopWaiting(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  release(): void {
    this.stopWaiting()
    this.#lock?.release()
    this.#lock = null
  }
}
