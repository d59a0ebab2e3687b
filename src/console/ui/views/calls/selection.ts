import { useMemo, useState } from 'react'
import type { FrozenSet } from '../../../../calls/review/call-sets.ts'

/** As many as one request can change or delete. */
export const selectedMax = 1_000

/** The calls that are selected. */
export interface Selection {
  ids: ReadonlySet<string>
  /** Whether all loaded calls are selected, or as many as can be. */
  isAll: boolean
  /** All calls that match, or the first of them, once they are selected: the ids are theirs. */
  frozen: FrozenSet | null
  freeze: (set: FrozenSet) => void
  /** @param isRange also selects everything between the previously toggled call and this one */
  toggle: (id: string, isRange?: boolean) => void
  set: (ids: readonly string[]) => void
}

const none: ReadonlySet<string> = new Set()

/** Another list begins with nothing selected. @param list its name @param rows its rows, in order */
export function useSelection(list: string, rows: readonly { id: string }[]): Selection {
  const [ids, setIds] = useState(none)
  const [last, setLast] = useState<string | null>(null)
  const [frozen, setFrozen] = useState<FrozenSet | null>(null)
  const [before, setBefore] = useState(list)
  if (before !== list) {
    setBefore(list)
    setIds(none)
    setLast(null)
    setFrozen(null)
  }
  return useMemo(() => {
    const isAll = rows.length > 0 && rows.slice(0, selectedMax).every(({ id }) => ids.has(id))
    const set = (next: readonly string[]) => {
      setIds(new Set(next.slice(0, selectedMax)))
      setFrozen(null)
    }
    const freeze = (found: FrozenSet) => {
      setIds(new Set(found.ids))
      setFrozen(found)
    }
    const toggle = (id: string, isRange = false) => {
      setLast(id)
      if (isRange && last !== null) return set([...ids, ...between(rows, last, id)])
      set(ids.has(id) ? [...ids].filter((other) => other !== id) : [...ids, id])
    }
    return { ids, isAll, frozen, freeze, toggle, set }
  }, [ids, frozen, last, rows])
}

function between(rows: readonly { id: string }[], one: string, other: string): string[] {
  const places = [one, other].map((id) => rows.findIndex((row) => row.id === id))
  if (places.includes(-1)) return [other]
  return rows.slice(Math.min(...places), Math.max(...places) + 1).map(({ id }) => id)
}
