import type { Figure } from '../../../../calls/reading/overview.ts'
import { asDecimal } from '../../components/figures.ts'

interface Change {
  direction: 'up' | 'down' | 'same'
  /** `12%`, `4 points`, `18s` */
  amount: string
}

/** The change from the previous period: in per cent, or in percentage points for a share. */
export function changeOf({ value, before }: Figure, unit: 'share' | 'amount'): Change | null {
  if (value === null || before === null) return null
  if (unit === 'share') {
    const points = Math.round((value - before) * 1000) / 10
    return {
      direction: directionOf(points),
      amount: `${asDecimal(Math.abs(points))} ${Math.abs(points) === 1 ? 'point' : 'points'}`,
    }
  }
  if (before === 0) return value === 0 ? { direction: 'same', amount: '0%' } : null
  const percent = Math.round(((value - before) / before) * 1000) / 10
  const shown = Math.abs(percent) >= 10 ? Math.round(Math.abs(percent)) : Math.abs(percent)
  // Not 100%: something is left.
  const amount = shown === 100 && percent < 0 && value > 0 ? '> 99%' : `${asDecimal(shown)}%`
  return { direction: directionOf(percent), amount }
}

function directionOf(difference: number): Change['direction'] {
  if (difference === 0) return 'same'
  return difference > 0 ? 'up' : 'down'
}
