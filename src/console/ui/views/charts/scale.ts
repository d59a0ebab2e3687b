/** The numbers at which lines cross a chart, the lowest first. */
export interface Scale {
  lines: number[]
  /** How far above the bottom a value is, in percent. */
  placeOf: (value: number) => number
}

const linesMax = 4
/** Of which a step of a scale is one, times a power of ten; and of seconds, one of these. */
const niceSteps = [1, 2, 5, 10]
const niceSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600]

/** A scale from zero, or less, to at least the greatest of the values. */
export function scaleOf(values: readonly number[], unit: 'whole' | 'seconds' | 'any' = 'any'): Scale {
  const [most, least] = [Math.max(0, ...values), Math.min(0, ...values)]
  const range = most - least || 1
  const step = unit === 'seconds' ? secondsStep(range / linesMax) : niceStep(range / linesMax, unit)
  // From the number of steps, since sums of tenths end in other digits.
  const [first, last] = [Math.floor(least / step), Math.max(1, Math.ceil(most / step))]
  const lines = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step)
  return { lines, placeOf: (value) => ((value / step - first) / (last - first)) * 100 }
}

/** A path through values that are one apart, with a gap where there is none. One alone is drawn a step wide. */
export function linePath(values: readonly (number | null)[], { placeOf }: Scale): string {
  const valueAt = (at: number) => values[at] ?? null
  return values
    .map((value, at) => {
      if (value === null) return ''
      const step = valueAt(at - 1) === null ? 'M' : 'L'
      const isAlone = step === 'M' && valueAt(at + 1) === null
      return `${step}${at + 0.5} ${100 - placeOf(value)}${isAlone ? 'h1' : ''}`
    })
    .join('')
}

function secondsStep(atLeast: number): number {
  return niceSeconds.find((step) => step >= atLeast) ?? niceStep(atLeast / 3_600, 'whole') * 3_600
}

/** 1, 2 or 5 times a power of ten, at least this much. */
function niceStep(atLeast: number, unit: 'whole' | 'any'): number {
  const power = 10 ** Math.floor(Math.log10(unit === 'whole' ? Math.max(1, atLeast) : atLeast))
  return niceSteps.map((times) => times * power).find((step) => step >= atLeast) ?? power * 10
}
