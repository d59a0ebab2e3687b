import { expect, test } from 'bun:test'
import type { TimelineEntry } from '../../../src/calls/schemas.ts'
import { linesOf } from '../../../src/console/ui/views/calls/conversation.ts'
import { secondsOf } from '../../../src/console/ui/views/calls/step.ts'
import fc from '../../support/fast-check.ts'

const transcript = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }))
const turn = (index: number, atSeconds: number): TimelineEntry => ({ atSeconds, kind: 'turn', turn: index })
const step = (name: string, atSeconds: number, of: number | null = null): TimelineEntry => ({
  atSeconds,
  kind: 'tool_call',
  turn: of,
  name,
})

/** `a@1 [x y] b`: turns with their times, and the names of steps. */
function drawn(timeline: TimelineEntry[]): string {
  const lines = linesOf(transcript, timeline).map((line) => {
    if ('steps' in line) return `[${line.steps.map(({ name }) => name).join(' ')}]`
    return line.turn.content + (line.atSeconds === null ? '' : `@${line.atSeconds}`)
  })
  return lines.join(' ')
}

test('a transcript without a timeline is its turns', () => {
  expect(drawn([])).toBe('a b c')
})

test('turns have their times, and steps stand between them in order of time, however they were sent', () => {
  const timeline = [
    step('z', 9),
    turn(2, 5),
    step('y', 3),
    turn(0, 1),
    step('first', 0.5),
    turn(1, 2),
    step('x', 2.5),
  ]
  expect(drawn(timeline)).toBe('[first] a@1 b@2 [x y] c@5 [z]')
})

test('what has the time of a turn stands as it was sent: a tool before the reply that used it', () => {
  expect(drawn([turn(0, 1), step('x', 2), turn(1, 2), step('y', 2), turn(2, 2)])).toBe('a@1 [x] b@2 [y] c@2')
})

test('a turn without a time stays where it is, and the first time of a turn counts', () => {
  expect(drawn([turn(0, 1), turn(2, 8), turn(2, 9), step('x', 4)])).toBe('a@1 b [x] c@8')
})

test('without times of turns a step follows the turn that it names, or the last one', () => {
  expect(drawn([step('x', 4, 0), step('late', 1), step('beyond', 2, 99)])).toBe('a [x] b c [late beyond]')
})

test('a tool’s answer stands with its call, also when somebody spoke meanwhile, and says why it failed', () => {
  const result = (atSeconds: number, text: string): TimelineEntry => ({
    atSeconds,
    kind: 'tool_result',
    name: 'x',
    text,
  })
  const lines = linesOf(transcript, [
    turn(0, 1),
    step('x', 2),
    turn(1, 3),
    result(4, '{"error":{"message":"No table is free."}}'),
    step('x', 5),
    result(5.5, '{"ok":true}'),
    turn(2, 9),
  ])
  const steps = lines.flatMap((line) => ('steps' in line ? line.steps : []))
  expect(steps.map((each) => [each.atSeconds, secondsOf(each), each.failure])).toEqual([
    [2, 2, 'No table is free.'],
    [5, 0.5, null],
  ])
  expect('steps' in (lines[1] ?? {})).toBe(true)
})

test('every turn and every step is there once, whatever the timeline', () => {
  const entries = fc.record({
    atSeconds: fc.nat(5),
    kind: fc.constantFrom<TimelineEntry['kind']>('turn', 'tool_call', 'tool_result', 'transfer', 'other'),
    turn: fc.option(fc.nat(4)),
  })
  fc.assert(
    fc.property(fc.array(entries), (timeline) => {
      const lines = linesOf(transcript, timeline)
      expect(lines.flatMap((line) => ('turn' in line ? line.index : []))).toEqual([0, 1, 2])
      const steps = lines.flatMap((line) => ('steps' in line ? line.steps : []))
      const shown = steps.flatMap(({ began, answer }) => [began, answer].filter((entry) => entry !== null))
      expect(new Set(shown)).toEqual(new Set(timeline.filter(({ kind }) => kind !== 'turn')))
    }),
  )
})
