import { describe, expect, test } from 'bun:test'
import type { Call, CallDetails, TimelineEntry } from '../../../src/calls/schemas.ts'
import { hashOfTurn, turnOfHash } from '../../../src/console/ui/views/calls/call-links.ts'
import { callText } from '../../../src/console/ui/views/calls/conversation.ts'
import { stepsOf } from '../../../src/console/ui/views/calls/step.ts'

const retrievedIn = (text: string) =>
  stepsOf([{ kind: 'tool_result', atSeconds: 0, text }])[0]?.retrieved ?? []

describe('a call as text', () => {
  test('has who, when, the summary, each turn with its time, and what happened between', () => {
    const call = {
      id: 'call-1',
      createdAt: '2026-01-31T09:30:00.000Z',
      duration: 64,
      callerNumber: '+15557294053',
      calledNumber: null,
      summary: 'Moved a booking.',
      transcript: [
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'Friday, please.' },
      ],
    } as Call
    const timeline: TimelineEntry[] = [
      { atSeconds: 0, kind: 'turn', turn: 0 },
      { atSeconds: 2, kind: 'tool_call', name: 'find_booking' },
    ]
    expect(callText(call, { direction: null, timeline } as unknown as CallDetails)).toBe(
      '+15557294053, 2026-01-31T09:30:00.000Z, 1:04\nCall call-1\n\nMoved a booking.\n\n' +
        'Agent (0:00.0): Hello.\nCaller: Friday, please.\n[find_booking]\n',
    )
    expect(callText({ ...call, summary: null, transcript: [] }, undefined)).not.toContain('Moved')
  })
})

describe('what a tool retrieved', () => {
  test('is read from the answers of every protocol, each item once', () => {
    const hits = {
      data: [
        { itemId: 'kn_1', name: 'Refund "policy"' },
        { itemId: 'kn_2', name: 'Hours' },
      ],
    }
    expect(retrievedIn(JSON.stringify([hits, hits]))).toEqual([
      { id: 'kn_1', name: 'Refund "policy"' },
      { id: 'kn_2', name: 'Hours' },
    ])
    expect(retrievedIn(JSON.stringify({ result: JSON.stringify({ data: [{ itemId: 'kn_3' }] }) }))).toEqual([
      { id: 'kn_3', name: null },
    ])
    expect(retrievedIn('Hours › Saturday (item kn_2)\n\nFrom nine to one.')).toEqual([
      { id: 'kn_2', name: 'Hours' },
    ])
    expect(retrievedIn('{"documents":[{"content":"x","uuid":"kn_4:2"}]}')).toEqual([
      { id: 'kn_4', name: null },
    ])
  })

  test('is nothing in other answers', () => {
    expect(['{"id":42}', 'It is (item 4) on the list.', ''].flatMap(retrievedIn)).toEqual([])
  })
})

test('a turn is named in the address as people count: the first is 1', () => {
  expect(['#turn-12', 'turn-1', '#turn-0', '#turn-', '#turn-x', '#other', ''].map(turnOfHash)).toEqual([
    11,
    0,
    null,
    null,
    null,
    null,
    null,
  ])
  expect(turnOfHash(hashOfTurn(777))).toBe(777)
})
