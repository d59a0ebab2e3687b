/** The knowledge version that an index has reached. Changes may arrive in any order. */
export class FollowedVersion {
  /** 0 until the index is compared with the rows. */
  #equal = 0
  /** Later versions whose changes arrived before those of a version in between. */
  readonly #ahead = new Set<number>()

  get equal(): number {
    return this.#equal
  }

  /** Call it when the index equals the rows of this version. */
  compared(version: number): void {
    this.#equal = Math.max(version, this.#equal)
    for (const ahead of this.#ahead) if (ahead <= this.#equal) this.#ahead.delete(ahead)
    while (this.#ahead.delete(this.#equal + 1)) this.#equal++
  }

  /** Call it when the index has the change that made this version. */
  changed(version: number): void {
    this.#ahead.add(version)
    this.compared(this.#equal)
  }
}
