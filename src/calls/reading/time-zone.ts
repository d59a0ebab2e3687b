import { invalidRequest } from '../../errors.ts'
import { clockOf } from '../../text/zone.ts'

const msPerDay = 86_400_000

/** A part of a period during which a time zone's offset is constant. */
export interface ZonePart {
  from: number
  to: number
  /** How far local time is ahead of UTC, in milliseconds. */
  ahead: number
}

/** The parts of a period, earliest first. @throws invalid_request for an unknown time zone */
export function partsOfZone({ from, to }: { from: number; to: number }, zone: string): ZonePart[] {
  const aheadAt = clockOf(zone)
  if (!aheadAt)
    throw invalidRequest([{ field: 'zone', message: 'must be a time zone such as Europe/Berlin' }])
  const parts: ZonePart[] = []
  let start = from
  for (let at = from; at < to; at += msPerDay) {
    const next = Math.min(at + msPerDay, to)
    if (aheadAt(at) === aheadAt(next)) continue
    const change = changeBetween(at, next, aheadAt)
    parts.push({ from: start, to: change, ahead: aheadAt(start) })
    start = change
  }
  return start < to ? [...parts, { from: start, to, ahead: aheadAt(start) }] : parts
}

/** The instant at which the offset changes to that at the end. */
function changeBetween(from: number, to: number, aheadAt: (at: number) => number): number {
  let [before, after] = [from, to]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (aheadAt(middle) === aheadAt(to)) after = middle
    else before = middle
  }
  return after
}
