import { useLocalStorage } from '@mantine/hooks'
import { useMemo } from 'react'

/**
 * The columns of the list, from left to right. Some are always there. `px` is a column's width; the summary takes what is
 * left, and at least so much where other columns than the standard ones were chosen.
 */
export const columns = [
  { name: 'when', label: 'Time', choice: 'always', px: 84 },
  { name: 'numbers', label: 'From and to', choice: 'always', px: 264 },
  { name: 'duration', label: 'Duration', choice: 'shown', px: 84 },
  { name: 'density', label: 'Conversation', choice: 'shown', px: 128 },
  { name: 'evaluation', label: 'Evaluation', choice: 'shown', px: 112 },
  { name: 'review', label: 'Review', choice: 'shown', px: 112 },
  { name: 'agent', label: 'Agent', choice: 'shown', px: 112 },
  { name: 'version', label: 'Version', choice: 'hidden', px: 88 },
  { name: 'cost', label: 'Cost', choice: 'hidden', px: 88 },
  { name: 'latency', label: 'Latency', choice: 'hidden', px: 88 },
  { name: 'criteria', label: 'Criteria', choice: 'hidden', px: 88 },
  { name: 'engaged', label: 'Engaged', choice: 'hidden', px: 80 },
  { name: 'source', label: 'Source', choice: 'hidden', px: 104 },
  { name: 'ended', label: 'End reason', choice: 'hidden', px: 136 },
  { name: 'labels', label: 'Labels', choice: 'hidden', px: 136 },
  { name: 'assignee', label: 'Assigned to', choice: 'hidden', px: 136 },
  { name: 'summary', label: 'Summary', choice: 'always', px: 240 },
] as const

/** Columns of figures. */
export function isFigure(name: string): boolean {
  return ['duration', 'cost', 'latency', 'criteria'].includes(name)
}

export type ColumnName = (typeof columns)[number]['name']

const selectPx = 32
const standard = columns.flatMap(({ name, choice }) => (choice === 'shown' ? [name] : []))

/** The columns that a person has chosen, in this browser. */
export function useColumns(): {
  shown: ReadonlySet<ColumnName>
  /** How wide the list is at least; undefined for the standard columns, which make room for each other. */
  widthPx: number | undefined
  chosen: string[]
  choose: (names: string[]) => void
} {
  const [chosen, choose] = useLocalStorage<string[]>({
    key: 'callbook-call-columns',
    defaultValue: [...standard],
    // Columns that appear later would move what is being read.
    getInitialValueInEffect: false,
  })
  const shown = useMemo(() => {
    const isShown = ({ name, choice }: (typeof columns)[number]) =>
      choice === 'always' || chosen.includes(name)
    return new Set(columns.flatMap((column) => (isShown(column) ? [column.name] : [])))
  }, [chosen])
  const isOwn = chosen.some((name) => !standard.some((one) => one === name))
  const px = columns.reduce((sum, column) => sum + (shown.has(column.name) ? column.px : 0), selectPx)
  return { shown, widthPx: isOwn ? px : undefined, chosen, choose }
}
