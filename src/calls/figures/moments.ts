/** The average of numbers, and the sums of the squares and of the cubes of how far each is from it. */
export type MomentsOfGroup = Record<'mean' | 'squares' | 'cubes', number>

/**
 * The moments of the numbers of many groups. They are brought up to date with each number, so that what is equal has a
 * spread of exactly 0: Pébay, "Formulas for robust, one-pass parallel computation of covariances and arbitrary-order
 * statistical moments", Sandia 2008.
 */
export class Moments {
  readonly #counts: number[] = []
  readonly #groups: MomentsOfGroup[] = []

  /** @param values of each call; NaN for none @param found the calls to add, so many of them @param groups their groups */
  add(values: ArrayLike<number>, found: Int32Array, groups: Int32Array, count: number): void {
    for (let at = 0; at < count; at++) {
      const number = values[found[at] as number] as number
      if (Number.isNaN(number)) continue
      const group = groups[at] as number
      this.#groups[group] ??= { mean: 0, squares: 0, cubes: 0 }
      const moments = this.#groups[group]
      const numbers = (this.#counts[group] ?? 0) + 1
      this.#counts[group] = numbers
      const distance = number - moments.mean
      const step = distance / numbers
      const square = distance * step * (numbers - 1)
      moments.mean += step
      moments.cubes += square * step * (numbers - 2) - 3 * step * moments.squares
      moments.squares += square
    }
  }

  of(group: number): MomentsOfGroup | undefined {
    return this.#groups[group]
  }
}
