/** Who takes part of a limit: a project by its row number; or someone without a key to one, by name. */
export type Party = number | string

interface SharedLimitOptions {
  max: number
  /** The most for each party that is not a project. */
  ofUnverified?: number
}

/**
 * A limit that many share. A project gets at most half while anyone else holds some. Alone, it gets three quarters, so
 * that there is room for the next one.
 */
export class SharedLimit {
  readonly #options: SharedLimitOptions
  readonly #amounts = new Map<Party, number>()
  #total = 0

  constructor(options: SharedLimitOptions) {
    this.#options = options
  }

  get total(): number {
    return this.#total
  }

  hasRoom(party: Party, more = 1): boolean {
    const { max, ofUnverified = 0 } = this.#options
    const own = this.#amounts.get(party) ?? 0
    const ofProject = own < this.#total ? max / 2 : (max * 3) / 4
    return own + more <= (typeof party === 'number' ? ofProject : ofUnverified) && this.#total + more <= max
  }

  /** @param amount negative to give some back */
  add(party: Party, amount = 1): void {
    const own = (this.#amounts.get(party) ?? 0) + amount
    this.#total += amount
    if (own === 0) this.#amounts.delete(party)
    else this.#amounts.set(party, own)
  }
}
