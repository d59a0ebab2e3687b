/** A mutex for each key: first come, first served. It orders the work of this process only. */
export class KeyedMutex {
  /** The last holder of each key; resolves when it is done, however it ends. */
  readonly #last = new Map<string, Promise<void>>()

  /** Runs `work` while holding all of `keys`. */
  async run<Result>(keys: ReadonlySet<string>, work: () => Promise<Result>): Promise<Result> {
    const earlier = [...keys].map((key) => this.#last.get(key))
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    for (const key of keys) this.#last.set(key, released)
    try {
      await Promise.all(earlier)
      return await work()
    } finally {
      release()
      for (const key of keys) if (this.#last.get(key) === released) this.#last.delete(key)
    }
  }
}
