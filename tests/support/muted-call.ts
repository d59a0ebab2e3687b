import { expect } from 'bun:test'
import { type SpokenCall, spokenCalls, toWav } from '../../scripts/bench/spoken-calls.ts'
import type { CallDetails } from '../../src/calls/schemas.ts'

// A call that is spoken, of which some turns are to be made silent.

export const [spoken] = [...spokenCalls(4, 1, 2)] as [SpokenCall]
export const wav = Buffer.from(new Uint8Array(toWav(spoken.channels)))
const bytesPerSecond = wav.readUInt32LE(28)
const headerBytes = 44
/** The turns of the call, as a platform tells when each began. */
export const turns = [
  ...spoken.caller.map(([from, to]) => ({ role: 'user' as const, from, to })),
  ...spoken.agent.map(([from, to]) => ({ role: 'assistant' as const, from, to })),
].sort((a, b) => a.from - b.from)
export const timeline = turns.map(({ from }, turn) => ({ atSeconds: from, kind: 'turn', turn }))
export const callerTurns = turns.flatMap(({ role }, turn) => (role === 'user' ? [turn] : []))
const card = 'It is 4111 1111 1111 1111. '

/** What is said, with a card's number in some turns. */
export function saidWith(...redacted: number[]) {
  return turns.map(({ role, from, to }, turn) => {
    const said = 'x'.repeat(Math.ceil(15 * (to - from)))
    return {
      role,
      content: redacted.includes(turn) ? `${card}${said}`.slice(0, Math.max(card.length, said.length)) : said,
    }
  })
}

type Muted = CallDetails['recording']['muted']

export function isWithin(muted: Muted, from: number, to: number): boolean {
  return (muted ?? []).some(([start = 0, end = 0]) => start <= from && to <= end)
}

/** All that is said in the turn is silent. */
export function expectCovers(muted: Muted, turn: number): void {
  const { from, to } = turns[turn] ?? { from: 0, to: 0 }
  expect([turn, isWithin(muted, from, to)]).toEqual([turn, true])
}

export function expectSilentWithin(served: Buffer, muted: Muted): void {
  expect(served.length).toBe(wav.length)
  const places = (muted ?? []).map(([from = 0, to = 0]) => [placeOf(from), placeOf(to)] as const)
  for (const [from, to] of places) expect(served.subarray(from, to).every((byte) => byte === 0)).toBe(true)
  let at = 0
  for (const [from, to] of [...places, [wav.length, 0] as const]) {
    expect(served.subarray(at, from - 4).equals(wav.subarray(at, from - 4))).toBe(true)
    at = to + 4
  }
}

function placeOf(seconds: number): number {
  return headerBytes + 4 * Math.round((seconds * bytesPerSecond) / 4)
}
