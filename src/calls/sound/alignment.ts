import type { Span } from './figures.ts'

export interface TimedTurn {
  role: 'user' | 'assistant'
  /** In seconds, by the platform's clock. */
  at: number
  /** The length of its text. */
  chars: number
}

/** How a call's turns lie in its recording. */
export interface Alignment {
  /** Whether the first channel is the agent's. */
  isSwapped: boolean
  /** How many seconds later the recording's clock tells the same moment. */
  offset: number
}

/** The offset of the clocks does not change, so that the first turns suffice. */
const turnsMax = 200
const turnsMin = 4
/** How many seconds a turn may be off after the clocks are aligned: some platforms give whole seconds. */
const tolerance = 1.2
const offsetMax = 10
const step = 0.1
/** Of the turns, this share lies where that speaker begins; in the other order clearly fewer do. */
const fitMin = 0.75
const fitMargin = 0.1
/** The least correlation between the lengths of texts and of what is spoken. */
const likenessMin = 0.4
/** A speaker who goes on after a longer pause begins a turn again. */
const pauseSeconds = 1

/** Seconds that are muted before and after what is heard. The end of a sentence is softer, and echo may hide it. */
const mutedBefore = 0.5
const mutedAfter = 1

type Spoken = Record<TimedTurn['role'], readonly Span[]>

/**
 * Aligns the times of turns with the sound, by which turns begin where who says them begins to speak.
 * @param turns in the order of time
 * @returns null with fewer than four turns, and where neither order of the channels clearly fits
 */
export function align(
  turns: readonly TimedTurn[],
  first: readonly Span[],
  second: readonly Span[],
): Alignment | null {
  if (turns.length < turnsMin) return null
  const straight = { user: first, assistant: second }
  const swapped = { user: second, assistant: first }
  const [a, b] = [bestOffset(turns, straight), bestOffset(turns, swapped)]
  const isSwapped = b.fit > a.fit
  const { fit, offset } = isSwapped ? b : a
  const isClear = fit >= fitMin && Math.abs(a.fit - b.fit) > fitMargin
  const isLike = isClear && likeness(turns, offset, isSwapped ? swapped : straight) >= likenessMin
  return isLike ? { isSwapped, offset } : null
}

function bestOffset(
  turns: readonly TimedTurn[],
  { user, assistant }: Spoken,
): { offset: number; fit: number } {
  const starts = { user: startsOf(user, assistant), assistant: startsOf(assistant, user) }
  const all = turns.slice(0, turnsMax)
  let best = { offset: 0, fit: 0, score: -1 }
  for (let steps = -offsetMax / step; steps <= offsetMax / step; steps++) {
    const offset = steps * step
    const distances = all.map(({ role, at }) => distanceTo(starts[role], at + offset) / tolerance)
    const score = distances.reduce((sum, distance) => sum + Math.max(0, 1 - distance), 0)
    const isNearer = Math.abs(offset) < Math.abs(best.offset)
    // Of equals, the one that moves the clock least.
    if (score < best.score - 1e-9 || (score <= best.score + 1e-9 && !isNearer)) continue
    best = { offset, fit: distances.filter((distance) => distance < 1).length / all.length, score }
  }
  return best
}

/** When each speaker begins a turn, or goes on after a pause. */
function startsOf(own: readonly Span[], other: readonly Span[]): number[] {
  let next = 0
  return own.flatMap(([from], index) => {
    const end = own[index - 1]?.[1] ?? Number.NEGATIVE_INFINITY
    while ((other[next]?.[0] ?? from) < from) next++
    const isOthersTurn = (other[next - 1]?.[0] ?? Number.NEGATIVE_INFINITY) > end - 0.5
    return from - end > pauseSeconds || isOthersTurn ? [from] : []
  })
}

/** How far the nearest of these ascending times is. */
function distanceTo(times: readonly number[], at: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) < at) low = middle + 1
    else high = middle
  }
  const far = Number.POSITIVE_INFINITY
  return Math.min(Math.abs((times[low - 1] ?? far) - at), Math.abs((times[low] ?? far) - at))
}

/**
 * Finds the span to mute so that a turn is not heard: all that is said around its time, with the pauses, and a margin for
 * what is too soft to be told from noise.
 * @param turns in the order of time
 * @param own when who says it speaks
 * @returns null if nothing is heard where it should begin
 */
export function spanOfTurn(
  turns: readonly TimedTurn[],
  index: number,
  { offset }: Pick<Alignment, 'offset'>,
  own: readonly Span[],
): Span | null {
  const said = turns[index]?.at ?? 0
  const next = turns.slice(index + 1).find(({ at }) => at > said)?.at ?? Number.POSITIVE_INFINITY
  const [at, until] = [said + offset, next + offset]
  const spoken = own.filter(([from, to]) => to > at - tolerance && from < until + tolerance / 2)
  const [first, last] = [spoken[0], spoken.at(-1)]
  if (!first || !last || first[0] > at + tolerance) return null
  // Who was interrupted may go on.
  const end = own.reduce(
    (sum, [from, to]) => (from > last[0] && from <= sum + pauseSeconds ? to : sum),
    last[1],
  )
  return [Math.max(0, Math.min(first[0], at) - mutedBefore), end + mutedAfter]
}

/**
 * How the lengths of texts and of what is spoken from their times go together. Where times are of the ends of turns, the other
 * speaker begins then, and what that one says is as long as it likes.
 */
function likeness(turns: readonly TimedTurn[], offset: number, spoken: Spoken): number {
  const pairs = turns.slice(0, turnsMax).map(({ role, at, chars }, index) => {
    const [from, to] = [at - tolerance / 2, turns[index + 1]?.at ?? Number.POSITIVE_INFINITY]
    const within = spoken[role].map(
      (span) => Math.min(span[1], to + offset) - Math.max(span[0], from + offset),
    )
    const seconds = within.reduce((sum, length) => sum + Math.max(0, length), 0)
    return [Math.log(chars + 5), Math.log(seconds + 0.3)] as const
  })
  const mean = (of: (pair: readonly [number, number]) => number) =>
    pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length
  const [x, y] = [mean(([chars]) => chars), mean(([, seconds]) => seconds)]
  const [xx, yy] = [mean(([chars]) => (chars - x) ** 2), mean(([, seconds]) => (seconds - y) ** 2)]
  return mean(([chars, seconds]) => (chars - x) * (seconds - y)) / Math.sqrt(xx * yy || 1)
}
