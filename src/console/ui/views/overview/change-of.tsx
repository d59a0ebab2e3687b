import { IconArrowDownRight, IconArrowUpRight, IconMinus } from '@tabler/icons-react'
import type { Figure } from '../../../../calls/reading/overview.ts'
import { changeOf } from './change.ts'
import classes from './figures.module.css'
import { labelBefore } from './overview-search.ts'

interface ChangeProps {
  figure: Figure
  unit: 'share' | 'amount'
  isMoreBetter: boolean | null
  days: number
  format: (value: number) => string
}

/** The change of a figure from the previous period. */
export function ChangeOf({ figure, unit, isMoreBetter, days, format }: ChangeProps) {
  const change = changeOf(figure, unit)
  const before = labelBefore(days)
  if (!change) {
    return <span className="cb-dimmed">{figure.value === null ? 'Not enough calls' : 'None before'}</span>
  }
  const { direction, amount } = change
  const Icon = { up: IconArrowUpRight, down: IconArrowDownRight, same: IconMinus }[direction]
  const word = { up: 'up', down: 'down', same: 'unchanged' }[direction]
  const isBetter =
    direction === 'same' || isMoreBetter === null ? null : (direction === 'up') === isMoreBetter
  const tone = isBetter === null ? 'neutral' : isBetter ? 'success' : 'danger'
  return (
    <>
      <span className={classes.change} data-tone={tone}>
        <Icon size={14} stroke={2} aria-hidden />
        <span className="cb-hidden">{word} </span>
        {direction === 'same' ? 'No change' : amount}
      </span>
      <span className="cb-dimmed">
        was {format(figure.before ?? 0)}
        <span className="cb-hidden"> in the {before}</span>
      </span>
    </>
  )
}
