export interface Turn {
  role: 'user' | 'assistant'
  content: string
}

/** The fields of a call that the model compares. Null means that the call does not exist. */
export interface CallState {
  duration: number
  summary: string
  transcript: Turn[]
}

/** The acknowledged state of a record, and the other possible state if the last request had no answer. */
export interface Known<State> {
  readonly marker: string
  now: State
  maybe?: { state: State; marker?: string }
}

export interface ItemState {
  name: string
  text: string
  /** A word that only the last section has, once the item was patched. */
  tail?: string
}

/** What was acknowledged, and what may have happened without an answer. */
export class Model {
  readonly calls = new Map<string, Known<CallState | null>>()
  /** Acknowledged, by id. */
  readonly items = new Map<string, Known<ItemState | null>>()
  /** Sent without an answer: each exists completely or not at all. */
  readonly unansweredItems = new Map<string, ItemState & { marker: string }>()
  /** Keys, in use (true) or revoked (false). */
  readonly keys = new Map<string, Known<boolean> & { id: string }>()
  /** Acknowledged changes of completed calls, the completion among them. */
  readonly completedChanges = new Map<string, number>()
  readonly deletedCalls = new Set<string>()
  readonly deletedItems = new Set<string>()
  /** The calls of accepted erasure requests, by their ids. */
  readonly erasures = new Map<string, readonly string[]>()
  /** Words that no file may contain any more. */
  readonly deadMarkers = new Set<string>()
  /** Deleted and changed items whose vectors the search has yet to compute; `is` has those that are still there. */
  deadItems: { was: ItemState; is: ItemState | null }[] = []
  /** How many vectors the last search looked for. */
  vectorsSought = 0
  readonly acknowledged: Record<string, number> = {}
  /** Broken promises. */
  readonly violations: string[] = []

  count(operation: string): void {
    this.acknowledged[operation] = (this.acknowledged[operation] ?? 0) + 1
  }

  violated(what: string): void {
    this.violations.push(what)
  }

  callIsGone(id: string): void {
    const known = this.calls.get(id)
    if (known) this.deadMarkers.add(known.marker)
    this.calls.delete(id)
    this.completedChanges.delete(id)
    this.deletedCalls.add(id)
  }

  itemIsGone(id: string): void {
    const known = this.items.get(id)
    if (known) this.#itemWas(known, null)
    this.items.delete(id)
    this.deletedItems.add(id)
  }

  itemIs(id: string, is: Known<ItemState>): void {
    const was = this.items.get(id)
    if (was) this.#itemWas(was, is)
    this.items.set(id, is)
  }

  /** A change that did not happen must leave no bytes either. */
  changeNeverCame({ marker, now }: Known<ItemState>, is: Known<ItemState>): void {
    this.#itemWas({ marker, now }, is)
  }

  #itemWas({ marker, now }: Known<ItemState | null>, is: Known<ItemState> | null): void {
    if (marker !== is?.marker) this.deadMarkers.add(marker)
    if (now?.tail !== undefined && now.tail !== is?.now.tail) this.deadMarkers.add(now.tail)
    if (now) this.deadItems.push({ was: now, is: is?.now ?? null })
  }

  /** An unanswered item that does not exist must leave no bytes either. */
  itemsNeverCame(): void {
    for (const item of this.unansweredItems.values()) {
      this.deadMarkers.add(item.marker)
      this.deadItems.push({ was: item, is: null })
    }
    this.unansweredItems.clear()
  }
}

export function isSameCall(a: CallState | null, b: CallState | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
