/** The behaviour that the API promises, implemented as simply as possible with lists in memory. */

export interface ReferenceTurn {
  role: 'user' | 'assistant'
  content: string
}

export interface ReferenceCall {
  id: string
  status: string
  duration: number
  summary: string | null
  isEngaged: boolean
  transcript: ReferenceTurn[]
  createdAt: string
}

export interface ReferenceChange {
  status?: 'live' | 'completed'
  duration?: number
  summary?: string | null
  isEngaged?: boolean
  transcript?: ReferenceTurn[]
  appendTranscript?: { at: number; turns: ReferenceTurn[] }
  createdAt?: string
}

export interface ReferenceItem {
  id: string
  name: string
  text: string
}

export interface ReferenceAnswer {
  status: number
  call?: ReferenceCall
}

export class Reference {
  readonly calls = new Map<string, ReferenceCall>()
  readonly deleted = new Set<string>()
  /** Calls whose `createdAt` no request has set. */
  readonly undated = new Set<string>()
  items: ReferenceItem[] = []

  /** @param createdAt the start of a new call whose request has none */
  put(id: string, change: ReferenceChange, createdAt: string): ReferenceAnswer {
    if (change.transcript && change.appendTranscript) return { status: 400 }
    if (this.deleted.has(id)) return { status: 410 }
    const before = this.calls.get(id)
    const call: ReferenceCall = structuredClone(before) ?? {
      id,
      status: 'live',
      duration: 0,
      summary: null,
      isEngaged: false,
      transcript: [],
      createdAt,
    }
    const isUndated = !before || this.undated.has(id)
    if (change.createdAt !== undefined && isUndated) call.createdAt = change.createdAt
    if (change.status === 'completed') call.status = 'completed'
    if (change.duration !== undefined) call.duration = change.duration
    if (change.summary !== undefined) call.summary = change.summary
    if (change.isEngaged !== undefined) call.isEngaged = change.isEngaged
    if (change.transcript) call.transcript = change.transcript
    if (change.appendTranscript) {
      const { at, turns } = change.appendTranscript
      if (at > call.transcript.length) return { status: 409 }
      for (const [n, turn] of turns.entries()) {
        const there = call.transcript[at + n]
        if (there === undefined) call.transcript.push(turn)
        else if (there.role !== turn.role || there.content !== turn.content) return { status: 409 }
      }
    }
    if (isUndated && change.createdAt === undefined) this.undated.add(id)
    else this.undated.delete(id)
    this.calls.set(id, call)
    return { status: before ? 200 : 201, call }
  }

  remove(id: string): ReferenceAnswer {
    if (!this.calls.delete(id)) return { status: 404 }
    this.deleted.add(id)
    return { status: 200 }
  }

  list(limit: number, offset: number): { ids: string[]; total: number } {
    const all = [...this.calls.values()].sort((a, b) =>
      a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1,
    )
    return { ids: all.slice(offset, offset + Math.min(limit, 1_000)).map(({ id }) => id), total: all.length }
  }
}
