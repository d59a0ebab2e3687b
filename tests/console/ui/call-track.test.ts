import { expect, test } from 'bun:test'
import type { TimelineEntry, Turn } from '../../../src/calls/schemas.ts'
import { columnsOf, nextAfter, trackOf, turnAt } from '../../../src/console/ui/views/calls/call-track.ts'
import { linesOf, medianParts, partsOf, totalOf } from '../../../src/console/ui/views/calls/conversation.ts'
import { stepsOf } from '../../../src/console/ui/views/calls/step.ts'

const transcript: Turn[] = ['Hello.', 'Hi.', 'It is moved.'].map((content, at) => ({
  role: at % 2 ? 'user' : 'assistant',
  content,
}))
const turn = (index: number, atSeconds: number, more = {}): TimelineEntry => ({
  atSeconds,
  kind: 'turn',
  turn: index,
  ...more,
})
const tool = (kind: 'tool_call' | 'tool_result', atSeconds: number, text = '{}'): TimelineEntry => ({
  atSeconds,
  kind,
  name: 'book',
  text,
})
const track = (timeline: TimelineEntry[], seconds = 60) =>
  trackOf(transcript, timeline, linesOf(transcript, timeline), seconds)

const failureIn = (text: string) => stepsOf([{ kind: 'tool_result', atSeconds: 0, text }])[0]?.failure

test('a call with times has its marks, its errors and its silences in seconds', () => {
  const { total, starts, marks, errors, silences } = track([
    turn(0, 0),
    turn(1, 10),
    tool('tool_call', 20),
    tool('tool_result', 21, '{"error":"down"}'),
    tool('tool_call', 25),
    tool('tool_result', 26, '{"itemId":"kn_1"}'),
    turn(2, 40, { interrupted: true }),
    { atSeconds: 50, kind: 'transfer' },
  ])
  expect([total, starts]).toEqual([60, [0, 10, 40]])
  expect(marks).toEqual({ tool: [], failed: [20], retrieval: [25], interruption: [40], transfer: [50] })
  expect(errors).toEqual([{ at: 20, line: 2 }])
  expect(silences.map((ends) => ends.map(Math.round))).toEqual([
    [1, 10],
    [11, 40],
    [41, 60],
  ])
})

test('a call without times has its marks where the turns are, and no silences', () => {
  const { isTimed, total, marks, silences, starts } = track([{ ...tool('tool_call', 3), turn: 0 }])
  expect([isTimed, total, silences]).toEqual([false, 1, []])
  expect(marks.tool).toEqual(starts.slice(1, 2))
})

test('a position leads to its turn, and the next place goes round', () => {
  const whole = track([turn(0, 2), turn(1, 10), turn(2, 40)])
  expect([0, 2, 9.9, 10, 60].map((at) => turnAt(whole, at))).toEqual([0, 0, 0, 1, 2])
  const next = (at: number) => nextAfter([5, 20], at, (place) => place)
  expect([0, 5, 20, 30].map(next)).toEqual([5, 20, 5, 5])
  // Without times, positions are shares of the call.
  expect(nextAfter([0.5, 0.505], 0.5, Number)).toBe(0.505)
  expect(nextAfter([], 0, Number)).toBeUndefined()
  expect(columnsOf([0, 0.01, 60], 60)).toEqual([0, 479])
})

test('the parts of a latency are told in order, and their sum where the platform says no total', () => {
  const latency = { model: 400, endOfTurn: 300, voice: null, tool: 0 }
  expect(partsOf(latency)).toEqual([
    { part: 'endOfTurn', ms: 300 },
    { part: 'model', ms: 400 },
  ])
  expect([totalOf(latency), totalOf({ ...latency, total: 900 }), totalOf({})]).toEqual([700, 900, null])
  const turns = [100, 300, 200].map((model, at) => turn(at, at, { latencyMs: { model } }))
  expect(medianParts(turns)).toEqual([{ part: 'model', ms: 200 }])
})

test('a tool has failed if its answer says so', () => {
  const failed = {
    '{"error":"No table is free."}': 'No table is free.',
    '{"error":{"code":503,"message":"Down"}}': 'Down',
    '{"errors":[{"detail":"Too late"}]}': 'Too late',
    '{"success":false,"message":"Closed"}': 'Closed',
    '{"isError":true,"message":"Gone"}': 'Gone',
    '{"status":"failed","message":"Busy"}': 'Busy',
    '{"statusCode":404,"message":"Unknown"}': 'Unknown',
    'Error: timed out': 'Error: timed out',
    '"Error: timed out"': 'Error: timed out',
  }
  expect(Object.keys(failed).map(failureIn)).toEqual(Object.values(failed))
  const fine = [
    '{"error":null,"id":1}',
    '{"success":true}',
    '{"status":200}',
    'No errors were found.',
    '[]',
    '',
  ]
  expect(fine.map(failureIn)).toEqual(fine.map(() => null))
  expect(failureIn(`Error: ${'x'.repeat(1_000)}`)).toHaveLength(301)
})
