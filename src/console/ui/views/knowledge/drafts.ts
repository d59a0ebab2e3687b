import type { ItemValues } from './item-fields.tsx'

const prefix = 'callbook-draft '

/** An edited item that is not saved yet. */
export interface Draft extends ItemValues {
  /** The item's last change when the edit began. */
  changeSeq: number
}

/** Keeps drafts in this browser, so that they survive the end of a session. */
export const drafts = {
  read(project: string, item: string): Draft | null {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(keyOf(project, item)) ?? 'null')
      return isDraft(kept) ? kept : null
    } catch {
      // The browser blocks storage.
      return null
    }
  },
  keep(project: string, item: string, draft: Draft): void {
    try {
      localStorage.setItem(keyOf(project, item), JSON.stringify(draft))
    } catch {
      // As above, or the storage is full: the form still has the text.
    }
  },
  drop(project: string, item: string): void {
    try {
      localStorage.removeItem(keyOf(project, item))
    } catch {
      // As above.
    }
  },
  /** For whoever signs out: the next person at this browser may be another. */
  dropAll(): void {
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key)
    } catch {
      // As above.
    }
  },
}

function keyOf(project: string, item: string): string {
  return `${prefix}${project} ${item}`
}

function isDraft(value: unknown): value is Draft {
  const { name, description, text, changeSeq } = Object(value)
  return [name, description, text].every((each) => typeof each === 'string') && typeof changeSeq === 'number'
}
