import { useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { useMemo } from 'react'
import type { Order } from './chosen-filters.ts'

/** A column of the list. `px` is its width; the summary takes what is left, and at least so much. */
export interface Column {
  name: ColumnName
  label: string
  px: number
  isFigure?: boolean
  /** What sorts by it; with a minus, from the greatest on. */
  order?: Order
}

export type ColumnName =
  | ('when' | 'caller' | 'duration' | 'density' | 'evaluation' | 'review' | 'agent' | 'version' | 'cost')
  | (
      | 'latency'
      | 'wait'
      | 'deadAir'
      | 'talkOver'
      | 'criteria'
      | 'engaged'
      | 'source'
      | 'ended'
      | 'labels'
      | 'assignee'
      | 'summary'
    )

/** From left to right. */
export const columns: readonly Column[] = [
  { name: 'when', label: 'Time', px: 76, order: 'createdAt' },
  { name: 'caller', label: 'Caller', px: 136 },
  { name: 'duration', label: 'Duration', px: 68, isFigure: true, order: 'duration' },
  { name: 'density', label: 'Conversation', px: 96 },
  { name: 'evaluation', label: 'Evaluation', px: 108 },
  { name: 'review', label: 'Review', px: 32 },
  { name: 'agent', label: 'Agent', px: 92 },
  { name: 'version', label: 'Version', px: 88 },
  { name: 'cost', label: 'Cost', px: 88, isFigure: true, order: 'cost' },
  { name: 'latency', label: 'Latency', px: 88, isFigure: true, order: 'latency' },
  { name: 'wait', label: 'Waited longest', px: 112, isFigure: true },
  { name: 'deadAir', label: 'Dead air', px: 80, isFigure: true },
  { name: 'talkOver', label: 'Talked over', px: 96, isFigure: true },
  { name: 'criteria', label: 'Criteria', px: 88, isFigure: true, order: 'criteria' },
  { name: 'engaged', label: 'Engaged', px: 80 },
  { name: 'source', label: 'Source', px: 104 },
  { name: 'ended', label: 'End reason', px: 136 },
  { name: 'labels', label: 'Labels', px: 136 },
  { name: 'assignee', label: 'Assigned to', px: 136 },
  { name: 'summary', label: 'Summary', px: 240 },
]

/** The columns of someone who has chosen none. */
const standard = ['when', 'caller', 'duration', 'density', 'evaluation', 'review', 'summary']
/** What a row of two lines shows, whatever columns are chosen. */
const ofTwoLines = ['caller', 'evaluation', 'review', 'when', 'summary', 'duration']

export interface ColumnChoice {
  shown: readonly Column[]
  /** Whether a row is two lines: beside an open call, and in a narrow window. */
  isTwoLines: boolean
  /** The names of those chosen. */
  chosen: string[]
  choose: (names: string[]) => void
}

/** The columns that a person has chosen in this browser. Without any, the standard ones are back. */
export function useColumns(isBesideCall: boolean): ColumnChoice {
  const atOnce = { getInitialValueInEffect: false }
  const hasRoomForAgent = useMediaQuery('(min-width: 1400px)', false, atOnce)
  const isNarrow = useMediaQuery('(max-width: 900px)', false, atOnce)
  const [stored, choose] = useLocalStorage<string[]>({ key: 'callbook-columns', defaultValue: [], ...atOnce })
  const isTwoLines = isBesideCall || isNarrow
  return useMemo(() => {
    const chosen = stored.length > 0 ? stored : [...standard, ...(hasRoomForAgent ? ['agent'] : [])]
    const shown = isTwoLines ? ofTwoLines : chosen
    return { shown: columns.filter(({ name }) => shown.includes(name)), isTwoLines, chosen, choose }
  }, [stored, choose, hasRoomForAgent, isTwoLines])
}
