const unitsMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Whole minutes, hours or days, such as `90m`, `24h` or `7d`. */
export const timeSpanPattern = '^[1-9][0-9]{0,3}[mhd]$'

/** The milliseconds of a text that matches the pattern. */
export function spanMs(text: string): number {
  return Number(text.slice(0, -1)) * (unitsMs[text.slice(-1)] ?? Number.NaN)
}
