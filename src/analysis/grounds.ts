import type { RubricContent } from './schemas.ts'

/** A passage that a search of the call found. */
interface Passage {
  itemId: string
  /** The item's. */
  name: string
  /** As it is now. */
  text: string
  /** Whether the item was changed since the call's searches. */
  isChanged: boolean
}

/** What the agent of a call could rely on. */
export interface Grounds {
  passages: readonly Passage[]
  /** What its tools answered, as far as it is kept. */
  tools: readonly ToolResult[]
  /** Whether a search was recorded, even if it found nothing. */
  hasSearched: boolean
  /** Whether something that was found has been changed or deleted since. */
  hasChanged: boolean
}

export interface ToolResult {
  name: string
  text: string
}

export const noGrounds: Grounds = { passages: [], tools: [], hasSearched: false, hasChanged: false }

/** A search that an agent made during a call. */
export interface SearchOfCall {
  /** ISO 8601, UTC. */
  at: string
  passages: readonly {
    position: number
    /** Null once it is deleted. */
    item: { id: string; name: string } | null
    /** Null once the item has no such passage. */
    text: string | null
    /** ISO 8601, UTC: when the item was last changed. */
    changedAt: string | null
  }[]
}

/** What the searches of a call found, each passage once, beside what its tools answered. */
export function groundsOf(searches: readonly SearchOfCall[], tools: readonly ToolResult[]): Grounds {
  const passages = new Map<string, Passage>()
  let hasChanged = false
  for (const { at, passages: found } of searches)
    for (const { position, item, text, changedAt } of found) {
      const isChanged = item === null || text === null || (changedAt ?? '') > at
      hasChanged ||= isChanged
      if (item === null || text === null) continue
      const known = passages.get(`${item.id} ${position}`)
      passages.set(`${item.id} ${position}`, {
        itemId: item.id,
        name: item.name,
        text,
        isChanged: isChanged && known?.isChanged !== false,
      })
    }
  return { passages: [...passages.values()], tools, hasSearched: searches.length > 0, hasChanged }
}

/** Whether a rubric asks if what the agent says is grounded. */
export function asksForGrounds({ criteria }: Pick<RubricContent, 'criteria'>): boolean {
  return criteria.some(({ kind }) => kind === 'grounded')
}

/** What a `grounded` criterion without a question of its own asks. */
export const groundedQuestion =
  'Is every fact about the organization that the agent states supported by a passage or by the result of a tool?'
