/** The knowledge version of the rows that an index equals. Changes may arrive in any order. */
export class FollowedVersion {
  /** Null until the index is loaded. */
  #equal: number | null = null
  /** Later versions whose changes have arrived before those of a version in between. */
  readonly #ahead = new Set<number>()

  get equal(): number | null {
    return this.#equal
  }

  includes(version: number): boolean {
    return this.#equal !== null && this.#equal >= version
  }

  loaded(version: number | null): void {
    this.#equal = version
  }

  /** The index was compared with the rows of this version. */
  compared(version: number): void {
    this.#equal = Math.max(version, this.#equal ?? 0)
    for (const ahead of this.#ahead) if (ahead <= this.#equal) this.#ahead.delete(ahead)
    while (this.#ahead.delete(this.#equal + 1)) this.#equal++
  }

  /** The index has the change that made this version. */
  changed(version: number | undefined): void {
    if (version === undefined || this.#equal === null) return
    this.#ahead.add(version)
    this.compared(this.#equal)
  }
}
