import { LRUCache } from 'lru-cache'

/** Those of some pages of a list. Writing one takes 30 us. */
const keptMax = 2_000

/** Who called whom; null where that is unknown. */
export interface CallNumbers {
  callerNumber: string | null
  calledNumber: string | null
}

/** Phone numbers as people read them. */
export class ShownNumbers {
  readonly #shown = new LRUCache<string, string>({ max: keptMax })

  async of({ callerNumber, calledNumber }: CallNumbers): Promise<CallNumbers> {
    return {
      callerNumber: callerNumber && (await this.#show(callerNumber)),
      calledNumber: calledNumber && (await this.#show(calledNumber)),
    }
  }

  async #show(number: string): Promise<string> {
    const known = this.#shown.get(number)
    if (known !== undefined) return known
    // Loaded only where it is needed, since it knows the numbers of every country.
    const { formatNumber } = await import('./phone-number.ts')
    const shown = formatNumber(number)
    this.#shown.set(number, shown)
    return shown
  }
}
