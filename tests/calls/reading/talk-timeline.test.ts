import { describe, expect, test } from 'bun:test'
import { talkTimelineOf, turnStarts } from '../../../src/calls/reading/talk-timeline.ts'
import type { TimelineEntry, Turn } from '../../../src/calls/schemas.ts'

const caller = (content: string): Turn => ({ role: 'user', content })
const agent = (content: string): Turn => ({ role: 'assistant', content })
const at = (atSeconds: number, turn: number): TimelineEntry => ({ atSeconds, kind: 'turn', turn })
const long = 'x'.repeat(1_500)

describe('the talk timeline of a call', () => {
  test('says who speaks when, and where nobody does', () => {
    const talkTimeline = talkTimelineOf(
      [agent('x'.repeat(30)), caller('x'.repeat(60))],
      [at(1, 0), at(5, 1)],
      10,
      10,
    )
    expect(talkTimeline).toEqual({
      assistant: '0990000000',
      user: '0000099990',
      tools: [],
      transfers: [],
      seconds: 10,
      shares: { assistant: 0.2, user: 0.4 },
    })
  })

  test('ends a turn where the next one begins, and the last one with the call', () => {
    const { assistant, user } = talkTimelineOf([agent(long), caller(long)], [at(0, 0), at(4, 1)], 8, 8)
    expect([assistant, user]).toEqual(['99990000', '00009999'])
  })

  test('has tool calls and transfers at their time, once a column', () => {
    const step = (kind: TimelineEntry['kind'], atSeconds: number) => ({ kind, atSeconds })
    const steps = [step('tool_call', 3), step('tool_call', 3.4), step('tool_result', 5), step('transfer', 99)]
    const { tools, transfers, seconds } = talkTimelineOf([agent('Hi')], [at(0, 0), ...steps], 10, 10)
    // The timeline is longer than the duration that the platform sent.
    expect([tools, transfers, seconds]).toEqual([[0], [9], 99])
  })

  test('without times stands for the length of what was said', () => {
    const talkTimeline = talkTimelineOf([agent('x'.repeat(150)), caller('x'.repeat(50))], [], 300, 4)
    expect(talkTimeline).toMatchObject({ assistant: '9990', user: '0009', seconds: null })
    expect(turnStarts([agent('x'.repeat(150)), caller('x'.repeat(50))], [], 300)).toEqual([0, 0.75])
  })

  test('places turns without a time after those that have one, and takes times in any order', () => {
    const turns = [agent('x'.repeat(15)), caller('x'.repeat(15)), agent('x'.repeat(15))]
    expect(turnStarts(turns, [at(6, 2), at(2, 0)], 10)).toEqual([0.2, 0.3, 0.6])
    expect(turnStarts(turns, [at(5, 0), at(1, 2)], 10)).toEqual([0.5, 0.6, 0.6])
  })

  test('of nothing is empty, and ten thousand turns are no longer than ten', () => {
    expect(talkTimelineOf([], [], 0, 3)).toMatchObject({ user: '000', assistant: '000', seconds: null })
    const turns = Array.from({ length: 10_000 }, (_, n) =>
      n % 2 ? caller('Yes, please.') : agent('Anything else?'),
    )
    const { user, assistant } = talkTimelineOf(
      turns,
      turns.map((_, n) => at(n, n)),
      10_000,
      100,
    )
    expect([user.length, assistant.length]).toEqual([100, 100])
    expect(user).toMatch(/^[4-6]+$/)
  })
})
