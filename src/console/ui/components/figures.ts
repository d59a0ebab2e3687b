import { localeOf } from './locale.ts'

const secondsPerMinute = 60
const minutesPerHour = 60
const bytesPerUnit = 1_000

// Created once: creating a formatter takes longer than formatting a hundred numbers.
const locale = localeOf()
const counts = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
const shortCounts = new Intl.NumberFormat(locale, { notation: 'compact' })
const shortDollars = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  notation: 'compact',
  maximumSignificantDigits: 2,
})
const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })

/** `3:07`, `1:02:09`; seconds are rounded. */
export function asDuration(seconds: number): string {
  const whole = Math.round(seconds)
  const two = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.floor(whole / secondsPerMinute)
  const rest = two(whole % secondsPerMinute)
  if (minutes < minutesPerHour) return `${minutes}:${rest}`
  return `${Math.floor(minutes / minutesPerHour)}:${two(minutes % minutesPerHour)}:${rest}`
}

/** `3:07.4`: a moment of a call, to the tenth. */
export function asMoment(seconds: number): string {
  const tenths = Math.round(seconds * 10)
  const whole = Math.floor(tenths / 10)
  return `${asDuration(whole)}.${tenths % 10}`
}

/** `12,345`, in the reader's locale. */
export function asCount(value: number): string {
  return counts.format(value)
}

/** `60K`, where there is room for five characters. */
export function asShortCount(value: number): string {
  return shortCounts.format(value)
}

/** `1,234.5`, to two digits unless more are asked for. */
export function asDecimal(value: number, maximumFractionDigits = 2): string {
  return new Intl.NumberFormat(locale, { maximumFractionDigits }).format(value)
}

/** `87.5%` of a share from 0 to 1. */
export function asPercent(share: number): string {
  return percents.format(share)
}

/** `1.2 kB`, `34 MB`. */
export function asBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= bytesPerUnit && unit < units.length - 1) {
    value /= bytesPerUnit
    unit += 1
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value)} ${units[unit]}`
}

/** `$0.12`; small amounts to a hundredth of a cent. */
export function asDollars(amount: number): string {
  const options = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const
  return new Intl.NumberFormat(locale, { ...options, maximumFractionDigits: amount < 1 ? 4 : 2 }).format(
    amount,
  )
}

/** `$0.50`, `$20`, `$1.2K`, where there is room for six characters. */
export function asShortDollars(amount: number): string {
  return Number.isInteger(amount) ? shortDollars.format(amount) : asDollars(amount)
}

/** `640 ms`, `1.2 s`. */
export function asMilliseconds(value: number): string {
  if (value < 1_000) return `${asCount(value)} ms`
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(value / 1_000)} s`
}

/** `1 call`, `2,000 calls`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${asCount(count)} ${count === 1 ? one : many}`
}

/** `3 minutes 7 seconds`: the duration for screen readers. */
export function spokenDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const parts = [
    counted(Math.floor(whole / 3600), 'hour'),
    counted(Math.floor(whole / 60) % 60, 'minute'),
    counted(whole % 60, 'second'),
  ].filter((part) => !part.startsWith('0 '))
  return parts.join(' ') || '0 seconds'
}

/** `45s`, `2m`, `1m 30s`, `1h`: short enough for an axis. */
export function shortDuration(seconds: number): string {
  const whole = Math.round(seconds)
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  return (
    [hours && `${hours}h`, minutes && `${minutes}m`, rest && `${rest}s`].filter(Boolean).join(' ') || '0s'
  )
}
