/** Requests beyond this number do not wait: their chunks are reported as pending at once. */
const waitersMax = 200

interface Waiter {
  /** Labels of the chunks that are not embedded yet. */
  open: Set<number>
  finish(isIndexed: boolean): void
}

/** Requests that wait for their chunks to be embedded and indexed. */
export class Waiters {
  readonly #waiters = new Set<Waiter>()

  /** Resolves to whether all of these chunks are indexed within `timeoutMs`. */
  async wait(labels: readonly number[], timeoutMs: number): Promise<boolean> {
    if (this.#waiters.size >= waitersMax) return false
    return new Promise((resolve) => {
      const finish = (isIndexed: boolean) => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        resolve(isIndexed)
      }
      const waiter = { open: new Set(labels), finish }
      const timer = setTimeout(finish, timeoutMs, false)
      this.#waiters.add(waiter)
      if (labels.length === 0) finish(true)
    })
  }

  /** Every label that a request waits for. */
  get labels(): number[] {
    return [...this.#waiters].flatMap(({ open }) => [...open])
  }

  /** Call it when these chunks are indexed, or when a try to index them has failed. */
  settle(labels: readonly number[], isIndexed: boolean): void {
    for (const { open, finish } of this.#waiters) {
      for (const label of labels) {
        if (!open.delete(label)) continue
        if (!isIndexed) finish(false)
        else if (open.size === 0) finish(true)
      }
    }
  }

  close(): void {
    for (const { finish } of this.#waiters) finish(false)
  }
}
