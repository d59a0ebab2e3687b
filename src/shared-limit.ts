/** Who takes part of a limit: a project by its row number; or someone without a key to one, by name. */
export type Party = number | string

interface SharedLimitOptions {
  max: number
  /** The most for each party that is not a project. */
  ofStranger?: number
}

/**
 * A limit that many share. A project gets at most half while anyone else holds some. Alone, it gets three quarters, so
 * that there is room for the next one.
 */
export class SharedLimit {
  readonly #max: number
  readonly #ofStranger: number
  readonly #held = new Map<Party, number>()
  #total = 0

  constructor({ max, ofStranger = 0 }: SharedLimitOptions) {
    this.#max = max
    this.#ofStranger = ofStranger
  }

  get total(): number {
    return this.#total
  }

  hasRoom(party: Party, more = 1): boolean {
    const own = this.#held.get(party) ?? 0
    const ofProject = own < this.#total ? this.#max / 2 : (this.#max * 3) / 4
    const most = typeof party === 'number' ? ofProject : this.#ofStranger
    return own + more <= most && this.#total + more <= this.#max
  }

  /** @param amount negative to give some back */
  add(party: Party, amount = 1): void {
    const own = (this.#held.get(party) ?? 0) + amount
    this.#total += amount
    if (own === 0) this.#held.delete(party)
    else this.#held.set(party, own)
  }
}
