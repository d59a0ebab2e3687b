/**
 * Lets those who write the same thing take turns, first come, first served. Only another process can then get
 * in between reading and writing.
 */
export class Turns {
  /** The last turn that was given out for each name; resolves when it is over, however it ends. */
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs `act` when all earlier turns for any of `names` are over. */
  async take<Result>(names: ReadonlySet<string>, act: () => Promise<Result>): Promise<Result> {
    const earlier: Promise<unknown>[] = []
    for (const name of names) {
      const last = this.#last.get(name)
      if (last) earlier.push(last)
    }
    let end: () => void = () => undefined
    const over = new Promise<void>((resolve) => {
      end = resolve
    })
    for (const name of names) this.#last.set(name, over)
    try {
      await Promise.all(earlier)
      return await act()
    } finally {
      end()
      for (const name of names) if (this.#last.get(name) === over) this.#last.delete(name)
    }
  }
}
