import { readLocalStorageValue, useLocalStorage } from '@mantine/hooks'
import { useMemo } from 'react'

/** The columns of the list, from left to right. Some are always there. */
export const columns = [
  { name: 'when', label: 'Time', choice: 'always' },
  { name: 'numbers', label: 'From and to', choice: 'always' },
  { name: 'duration', label: 'Duration', choice: 'shown' },
  { name: 'density', label: 'Conversation', choice: 'shown' },
  { name: 'evaluation', label: 'Evaluation', choice: 'shown' },
  { name: 'agent', label: 'Agent', choice: 'shown' },
  { name: 'engaged', label: 'Engaged', choice: 'hidden' },
  { name: 'source', label: 'Source', choice: 'hidden' },
  { name: 'ended', label: 'End reason', choice: 'hidden' },
  { name: 'labels', label: 'Labels', choice: 'hidden' },
  { name: 'summary', label: 'Summary', choice: 'always' },
] as const

export type ColumnName = (typeof columns)[number]['name']

const standard = columns.flatMap(({ name, choice }) => (choice === 'shown' ? [name] : []))

/** The columns that a person has chosen, in this browser. */
export function useColumns(): {
  shown: ReadonlySet<ColumnName>
  chosen: string[]
  choose: (names: string[]) => void
} {
  const key = 'callbook-call-columns'
  const [chosen, choose] = useLocalStorage<string[]>({
    key,
    // Read at once, because columns that appear later would move what is being read.
    defaultValue: readLocalStorageValue<string[]>({ key, defaultValue: [...standard] }),
    getInitialValueInEffect: false,
  })
  const shown = useMemo(() => {
    const isShown = ({ name, choice }: (typeof columns)[number]) =>
      choice === 'always' || chosen.includes(name)
    return new Set(columns.flatMap((column) => (isShown(column) ? [column.name] : [])))
  }, [chosen])
  return { shown, chosen, choose }
}
