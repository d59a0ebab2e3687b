export interface Turn {
  role: 'user' | 'assistant'
  content: string
}

/** What the model keeps of a call; `null` stands for a call that is not there. */
export interface CallState {
  duration: number
  summary: string
  transcript: Turn[]
}

/** A record as it was acknowledged, and as it may be instead when the last request to it had no answer. */
export interface Known<State> {
  readonly marker: string
  now: State
  maybe?: { state: State }
}

export interface ItemState {
  name: string
  text: string
}

/** What was acknowledged, and what may have happened without an answer. */
export class Model {
  readonly calls = new Map<string, Known<CallState | null>>()
  /** Acknowledged, by id. */
  readonly items = new Map<string, Known<ItemState | null>>()
  /** Sent without an answer: each may be there, whole. */
  readonly unansweredItems = new Map<string, ItemState & { marker: string }>()
  /** Keys that open (true) or are revoked (false). */
  readonly keys = new Map<string, Known<boolean> & { id: string }>()
  /** Calls that are gone for good. */
  readonly deletedCalls = new Set<string>()
  readonly deletedItems = new Set<string>()
  /** Words that no file may hold any more. */
  readonly deadMarkers = new Set<string>()
  /** Items whose vectors no file may hold any more, and have not been made yet to look for them. */
  deadItems: ItemState[] = []
  /** How many vectors were looked for last. */
  vectorsSought = 0
  readonly acknowledged: Record<string, number> = {}
  /** What must never be seen. */
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
    this.deletedCalls.add(id)
  }

  itemIsGone(id: string): void {
    const known = this.items.get(id)
    if (known) this.deadMarkers.add(known.marker)
    if (known?.now) this.deadItems.push(known.now)
    this.items.delete(id)
    this.deletedItems.add(id)
  }

  /** What was not answered and is not there leaves nothing either. */
  itemsNeverCame(): void {
    for (const item of this.unansweredItems.values()) {
      this.deadMarkers.add(item.marker)
      this.deadItems.push(item)
    }
    this.unansweredItems.clear()
  }
}

export function isSameCall(a: CallState | null, b: CallState | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
