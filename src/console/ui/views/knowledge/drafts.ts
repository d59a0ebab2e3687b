import { useMemo } from 'react'
import { usePerson, useProject } from '../../session.ts'
import { inBrowser } from '../../storage.ts'

const prefix = 'callbook-draft '

/** What people write of an item. */
export interface ItemValues {
  name: string
  description: string
  text: string
  tags: string[]
}

/** An edited item that is not saved yet. */
export interface Draft extends ItemValues {
  /** The item's last change when the edit began. */
  changeSeq: number
}

/** Keeps drafts in this browser, so that they survive the end of a session. They are their writer's alone. */
export function useDrafts() {
  const { id: person } = usePerson()
  const { id: project } = useProject()
  return useMemo(() => draftsOf(person, project), [person, project])
}

function draftsOf(person: string, project: string) {
  const keyOf = (item: string) => `${prefix}${person} ${project} ${item}`
  return {
    read(item: string): Draft | null {
      const stored = inBrowser.readJson(keyOf(item))
      return isDraft(stored) ? stored : null
    },
    /** @param json a `Draft` */
    save: (item: string, json: string) => inBrowser.save(keyOf(item), json),
    drop: (item: string) => inBrowser.drop(keyOf(item)),
  }
}

/** @param except the person whose drafts stay */
export function dropDrafts({ except }: { except?: string } = {}): void {
  const isTheirs = (key: string) => except !== undefined && key.startsWith(`${prefix}${except} `)
  for (const key of inBrowser.keys()) if (key.startsWith(prefix) && !isTheirs(key)) inBrowser.drop(key)
}

function isDraft(value: unknown): value is Draft {
  const { name, description, text, tags, changeSeq } = Object(value)
  const isTagged = Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')
  return (
    isTagged &&
    [name, description, text].every((each) => typeof each === 'string') &&
    typeof changeSeq === 'number'
  )
}
