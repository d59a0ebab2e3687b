import { expect, test } from 'bun:test'
import { createRandom } from '../../../scripts/random.ts'
import { align, type TimedTurn } from '../../../src/calls/sound/alignment.ts'
import type { Span } from '../../../src/calls/sound/figures.ts'

/** A conversation of turns, each of some spans, and what a platform says of them. */
function conversation(seed: number) {
  const random = createRandom(seed)
  const spans: Record<TimedTurn['role'], Span[]> = { user: [], assistant: [] }
  const turns: (TimedTurn & { end: number })[] = []
  let at = 1
  for (let turn = 0; turn < 20; turn++) {
    const role = turn % 2 === 0 ? 'assistant' : 'user'
    const begin = at
    for (let n = 0; n <= random() * 3; n++) {
      const from = at
      at += 0.5 + 4 * random()
      spans[role].push([from, at])
      at += 0.3
    }
    const end = at - 0.3
    turns.push({ role, at: begin, end, chars: Math.round(15 * (end - begin) * (0.75 + random() / 2)) })
    at = end + 0.3 + 1.5 * random()
  }
  return { turns, user: spans.user, assistant: spans.assistant, random }
}

const seeds = Array.from({ length: 20 }, (_, seed) => seed + 1)

test.each([
  ['exact', (at: number) => at],
  ['in whole seconds', (at: number) => Math.floor(at)],
  ['of a clock that began 4 seconds later', (at: number) => Math.max(0, at - 4)],
])('turns whose times are %s tell the order of the channels', (_, timeOf) => {
  for (const seed of seeds) {
    const { turns, user, assistant } = conversation(seed)
    const timed = turns.map((turn) => ({ ...turn, at: timeOf(turn.at) }))
    expect(align(timed, user, assistant)?.isSwapped).toBe(false)
    expect(align(timed, assistant, user)?.isSwapped).toBe(true)
  }
})

test('a clock that began later is found', () => {
  const { turns, user, assistant } = conversation(1)
  const timed = turns.map((turn) => ({ ...turn, at: turn.at - 1 }))
  expect(align(timed, user, assistant)?.offset).toBeCloseTo(1, 1)
})

test('times of the ends of turns, and random ones, tell nothing', () => {
  for (const seed of seeds) {
    const { turns, user, assistant, random } = conversation(seed)
    const ends = turns.map((turn) => ({ ...turn, at: turn.end }))
    expect(align(ends, user, assistant)).toBeNull()
    expect(align(ends, assistant, user)).toBeNull()
    const times = turns.map((turn) => ({ ...turn, at: 60 * random() })).sort((a, b) => a.at - b.at)
    expect(align(times, user, assistant)).toBeNull()
  }
})

test('fewer than four turns tell nothing', () => {
  const { turns, user, assistant } = conversation(1)
  expect(align(turns.slice(0, 3), user, assistant)).toBeNull()
  expect(align(turns.slice(0, 4), [], [])).toBeNull()
})
