import { describe, expect, test } from 'bun:test'
import { type StoredCall, toHead } from '../../../src/calls/call-head.ts'
import type { Call, CallChange, TimelineEntry, Turn } from '../../../src/calls/schemas.ts'
import { isEngagementKnown } from '../../../src/calls/writing/derive.ts'
import { endSilently, mergeCall } from '../../../src/calls/writing/merge.ts'
import { AppError, type FieldError } from '../../../src/errors.ts'
import fc, { runs } from '../../support/fast-check.ts'

const day = Date.parse('2026-03-01T12:00:00.000Z')
const at = (minutes: number) => new Date(day + minutes * 60_000).toISOString()
const turn = (role: Turn['role'], content: string): Turn => ({ role, content })
const turns = (count: number): Turn[] => Array.from({ length: count }, (_, i) => turn('user', `turn ${i}`))

/** The call after `changes`, one a minute, the first of which creates it. */
function merged(...changes: CallChange[]): StoredCall {
  let stored: StoredCall | null = null
  for (const [minute, change] of changes.entries())
    stored = mergeCall(stored, 'call-1', change, day + minute * 60_000)
  if (!stored) throw new Error('merged() takes at least one change')
  return stored
}

/** The same, heard of again so many milliseconds after it began. */
function heard(stored: StoredCall, laterMs: number): StoredCall {
  return { ...stored, heardAt: stored.call.status === 'live' ? day + laterMs : null }
}

function callAfter(...changes: CallChange[]): Call {
  return merged(...changes).call
}

function errorOf(act: () => unknown): AppError {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('Nothing was thrown')
}

function refusalOf(...changes: CallChange[]): AppError {
  return errorOf(() => merged(...changes))
}

function fieldsOf(error: AppError): string[] {
  return (error.errors ?? []).map(({ field }: FieldError) => field)
}

describe('a new call', () => {
  test('has thirteen fields, whatever is said of it', () => {
    expect(callAfter({})).toEqual({
      id: 'call-1',
      status: 'live',
      duration: 0,
      summary: null,
      evaluation: null,
      endedReason: null,
      callerNumber: null,
      calledNumber: null,
      isEngaged: false,
      callAnalysis: null,
      transcript: [],
      createdAt: at(0),
      updatedAt: at(0),
    })
  })

  test('takes every field it is given, verbatim', () => {
    const given = {
      id: 'call-1',
      status: 'completed',
      duration: 12.75,
      summary: '',
      evaluation: 'Meets 3 of 4 – see notes',
      endedReason: 'pipeline-error-☎',
      callerNumber: '+15550001111',
      calledNumber: 'sip:agent@example.com',
      isEngaged: true,
      callAnalysis: { score: 3 },
      transcript: [turn('assistant', 'Hello'), turn('user', '')],
      createdAt: '2026-01-31T09:30:00.000Z',
      updatedAt: '2026-01-31T09:45:00.000Z',
    } satisfies Call
    expect(callAfter(given)).toEqual(given)
  })

  test('with a creation time in the past was still changed now', () => {
    expect(callAfter({ createdAt: at(-60) })).toMatchObject({ createdAt: at(-60), updatedAt: at(0) })
  })
})

describe('a change', () => {
  test('leaves alone what it does not name', () => {
    const full: CallChange = {
      status: 'completed',
      duration: 60,
      summary: 'S',
      evaluation: 'success',
      endedReason: 'customer-ended-call',
      callerNumber: '+1',
      calledNumber: '+2',
      isEngaged: true,
      callAnalysis: { a: [1] },
      transcript: turns(2),
      metadata: { m: 1 },
    }
    const before = merged(full)
    const after = merged(full, {})
    expect(after).toEqual(before)
  })

  test.each([
    ['summary', 'text'],
    ['evaluation', 'success'],
    ['endedReason', 'customer-ended-call'],
    ['callerNumber', '+1'],
    ['calledNumber', '+2'],
    ['callAnalysis', { a: 1 }],
  ] as const)('of null clears %s', (field, value) => {
    const call = callAfter({ [field]: value }, { [field]: null })
    expect(call[field]).toBeNull()
    expect(call.updatedAt).toBe(at(1))
  })

  test('replaces a value with its empty form, which is not null', () => {
    const call = callAfter(
      { summary: 'a', callAnalysis: { a: 1 }, transcript: turns(1), duration: 9, isEngaged: true },
      { summary: '', callAnalysis: {}, transcript: [], duration: 0, isEngaged: false },
    )
    expect(call).toMatchObject({
      summary: '',
      callAnalysis: {},
      transcript: [],
      duration: 0,
      isEngaged: false,
    })
  })

  test('replaces callAnalysis as a whole', () => {
    const call = callAfter({ callAnalysis: { a: 1, deep: { b: 2 } } }, { callAnalysis: { deep: { c: 3 } } })
    expect(call.callAnalysis).toEqual({ deep: { c: 3 } })
  })

  test('of status completes a call for good', () => {
    expect(callAfter({ status: 'live' }).status).toBe('live')
    expect(callAfter({ status: 'live' }, { status: 'completed' }).status).toBe('completed')
    const back = callAfter({ status: 'completed' }, { status: 'live' })
    expect(back).toMatchObject({ status: 'completed', updatedAt: at(0) })
  })

  test('of isEngaged counts in a late event until a request has named it', () => {
    const late = (isEngaged: boolean) => ({ isEngaged, occurredAt: at(-1) })
    expect(callAfter({ occurredAt: at(0) }, late(true)).isEngaged).toBe(true)
    expect(callAfter({ occurredAt: at(0), isEngaged: false }, late(true)).isEngaged).toBe(false)
    expect(callAfter({ occurredAt: at(0) }, late(false), late(true)).isEngaged).toBe(false)
  })

  test('of createdAt counts once, in whatever request it comes first', () => {
    const late = { createdAt: at(-10), occurredAt: at(-10) }
    expect(callAfter({ occurredAt: at(0) }, late).createdAt).toBe(at(-10))
    expect(callAfter({}, late, { createdAt: at(-20) }).createdAt).toBe(at(-10))
    expect(callAfter({}, { createdAt: at(0) }, { createdAt: at(-20) }).createdAt).toBe(at(0))
  })

  test('of createdAt has no effect on a call whose start was named', () => {
    expect(callAfter({ createdAt: at(-10) }, { createdAt: at(-20) })).toMatchObject({
      createdAt: at(-10),
      updatedAt: at(0),
    })
  })

  test('of updatedAt is kept, forwards and backwards', () => {
    expect(callAfter({ updatedAt: at(5) }).updatedAt).toBe(at(5))
    expect(callAfter({ summary: 'a' }, { summary: 'b', updatedAt: at(-5) }).updatedAt).toBe(at(-5))
    expect(callAfter({}, { updatedAt: at(9) }).updatedAt).toBe(at(9))
  })

  test('that changes something is dated now, one that changes nothing is not', () => {
    const first: CallChange = { summary: 'a', callAnalysis: { z: 1, a: [{}] }, transcript: turns(2) }
    expect(callAfter(first, first).updatedAt).toBe(at(0))
    expect(callAfter(first, first, { summary: 'b' }).updatedAt).toBe(at(2))
    expect(callAfter({ callAnalysis: { n: 0 } }, { callAnalysis: { n: -0 } }).updatedAt).toBe(at(1))
  })

  test('of metadata is kept beside the call, merged by key, and cleared by null', () => {
    expect(merged({ metadata: { a: 1 } }).metadata).toBe('{"a":1}')
    expect(merged({ metadata: { a: 1 } }, {}).metadata).toBe('{"a":1}')
    expect(merged({ metadata: { a: 1, c: 1 } }, { metadata: { b: 2, a: { d: null } } }).metadata).toBe(
      '{"a":{"d":null},"c":1,"b":2}',
    )
    expect(merged({ metadata: { a: 1, b: 2 } }, { metadata: { a: null, c: null } }).metadata).toBe('{"b":2}')
    expect(merged({ metadata: JSON.parse('{"__proto__":1}') }, { metadata: { a: 1 } }).metadata).toBe(
      '{"__proto__":1,"a":1}',
    )
    expect(merged({ metadata: { a: 1 } }, { metadata: null }).metadata).toBeNull()
    expect(callAfter({ metadata: { a: 1 } })).not.toHaveProperty('metadata')
  })

  test('does not touch the call it is merged into', () => {
    const before = merged({ transcript: turns(1), callAnalysis: { a: 1 } })
    const copy = structuredClone(before)
    mergeCall(before, 'call-1', { summary: 's', appendTranscript: { at: 1, turns: turns(1) } }, day)
    expect(before).toEqual(copy)
  })
})

describe('appendTranscript', () => {
  const stored: CallChange = { transcript: turns(4) }

  test('goes on where the stored turns end, also from nothing', () => {
    expect(callAfter({ appendTranscript: { at: 0, turns: turns(2) } }).transcript).toEqual(turns(2))
    const more = { at: 4, turns: [turn('assistant', 'new')] }
    expect(callAfter(stored, { appendTranscript: more }).transcript).toEqual([...turns(4), ...more.turns])
  })

  test('skips what is stored already: a retry, an overlap, a part', () => {
    const again = callAfter(stored, { appendTranscript: { at: 0, turns: turns(4) } })
    expect(again).toMatchObject({ transcript: turns(4), updatedAt: at(0) })
    const overlap = { at: 2, turns: turns(6).slice(2) }
    expect(callAfter(stored, { appendTranscript: overlap }).transcript).toEqual(turns(6))
    const part = { at: 1, turns: turns(4).slice(1, 3) }
    expect(callAfter(stored, { appendTranscript: part }).transcript).toEqual(turns(4))
    expect(callAfter(stored, { appendTranscript: { at: 4, turns: [] } }).transcript).toEqual(turns(4))
  })

  test('with a gap is refused', () => {
    for (const change of [
      [{ appendTranscript: { at: 1, turns: turns(1) } }],
      [stored, { appendTranscript: { at: 5, turns: turns(1) } }],
      [stored, { appendTranscript: { at: 5, turns: [] } }],
      [stored, { appendTranscript: { at: 1e300, turns: turns(1) } }],
    ] satisfies CallChange[][])
      expect(refusalOf(...change)).toMatchObject({ status: 409, code: 'transcript_gap' })
  })

  test('with another role or content where turns are stored is refused', () => {
    for (const different of [turn('assistant', 'turn 3'), turn('user', 'turn 3 ')]) {
      const error = refusalOf(stored, { appendTranscript: { at: 3, turns: [different, turn('user', 'x')] } })
      expect(error).toMatchObject({ code: 'transcript_gap', title: 'Transcript does not continue' })
    }
  })

  test('does not come together with transcript', () => {
    const error = refusalOf({ transcript: [], appendTranscript: { at: 0, turns: [] } })
    expect(error.status).toBe(400)
    expect(fieldsOf(error)).toEqual(['appendTranscript'])
  })

  test('in any pieces, repeated and retried, gives the transcript they were cut from', () => {
    const piece = fc.tuple(fc.nat(12), fc.integer({ min: 1, max: 6 }))
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), fc.nat(12), (pieces, length) => {
        const whole = turns(length)
        let open: CallChange[] = [...pieces, [0, length] as const].map(([from, count]) => ({
          appendTranscript: { at: from, turns: whole.slice(from, from + count) },
        }))
        let stored = merged({})
        while (open.length > 0) {
          // A gap is closed by the pieces that follow: whoever gets a 409 sends its piece again.
          const waiting: CallChange[] = []
          for (const change of open) {
            try {
              stored = mergeCall(stored, 'call-1', change, day)
            } catch (error) {
              if (!(error instanceof AppError) || error.code !== 'transcript_gap') throw error
              waiting.push(change)
            }
          }
          if (waiting.length === open.length) break
          open = waiting
        }
        expect(stored.call.transcript).toEqual(whole)
        expect(open.every(({ appendTranscript }) => (appendTranscript?.at ?? 0) > length)).toBe(true)
      }),
    )
  })
})

describe('appendTimeline', () => {
  const entries = (count: number): TimelineEntry[] =>
    Array.from({ length: count }, (_, n) => ({ atSeconds: n, kind: 'turn', turn: n }))
  const timelineAfter = (...changes: CallChange[]): TimelineEntry[] =>
    JSON.parse(merged(...changes).details ?? '{"timeline":[]}').timeline
  const stored: CallChange = { appendTimeline: { at: 0, entries: entries(3) } }

  test('goes on where the stored entries end, and skips what is stored already, whatever occurredAt says', () => {
    const more = { occurredAt: at(1), appendTimeline: { at: 1, entries: entries(5).slice(1) } }
    const times = (timeline: TimelineEntry[]) => timeline.map(({ atSeconds }) => atSeconds)
    expect(times(timelineAfter({ occurredAt: at(9) }, stored, more))).toEqual([0, 1, 2, 3, 4])
    expect(timelineAfter(stored, stored)).toEqual(timelineAfter(stored))
    const whole = { details: { timeline: entries(2) } }
    expect(times(timelineAfter(whole, { appendTimeline: { at: 2, entries: entries(3).slice(2) } }))).toEqual([
      0, 1, 2,
    ])
  })

  test('with a gap, or another content where entries are stored, is refused', () => {
    const differs: TimelineEntry = { atSeconds: 2, kind: 'turn', turn: 2, interrupted: true }
    for (const appendTimeline of [
      { at: 4, entries: [] },
      { at: 2, entries: [differs] },
    ])
      expect(refusalOf(stored, { appendTimeline })).toMatchObject({
        status: 409,
        code: 'timeline_gap',
        title: 'Timeline does not continue',
      })
  })

  test('does not come together with details.timeline, nor beyond 20,000 entries', () => {
    for (const timeline of [[], null]) {
      const error = refusalOf({ details: { timeline }, appendTimeline: { at: 0, entries: [] } })
      expect(fieldsOf(error)).toEqual(['appendTimeline'])
    }
    const full: CallChange = { details: { timeline: entries(20_000) } }
    const error = refusalOf(full, { appendTimeline: { at: 20_000, entries: entries(1) } })
    expect([error.status, fieldsOf(error)]).toEqual([400, ['appendTimeline.entries']])
  })
})

describe('what nobody has said of a completed call is derived', () => {
  const turnsWith = (...totals: number[]): CallChange => ({
    details: {
      timeline: totals.map((total, n) => ({ atSeconds: n * 10.5, kind: 'turn', latencyMs: { total } })),
    },
  })
  const ended: CallChange = { createdAt: at(0), occurredAt: at(2), status: 'completed' }
  const detailsOf = (...changes: CallChange[]) => JSON.parse(merged(...changes).details ?? 'null')

  test.each<[string, CallChange[], number]>([
    [
      'between both times that requests named',
      [{ createdAt: at(0) }, { occurredAt: at(2), status: 'completed' }],
      120,
    ],
    [
      'also where the start comes later',
      [{ occurredAt: at(2), status: 'completed' }, { createdAt: at(0) }],
      120,
    ],
    [
      'to the last entry of the timeline, where they did not',
      [turnsWith(1, 1, 1), { status: 'completed' }],
      21,
    ],
    ['to the last entry that comes later', [{ status: 'completed' }, turnsWith(1, 1)], 10.5],
    ['as 0, where nothing tells', [{ status: 'completed' }], 0],
    ['never as less than 0', [{ createdAt: at(5) }, { occurredAt: at(2), status: 'completed' }], 0],
    ['not while the call is live', [{ createdAt: at(0), occurredAt: at(2) }, turnsWith(1)], 0],
    ['not where somebody has said it', [{ duration: 7 }, ended], 7],
    ['not where somebody says it then', [ended, { duration: 7 }], 7],
    ['not where somebody says it later, in an older event', [ended, { occurredAt: at(1), duration: 7 }], 7],
    ['not where somebody says that it is 0', [{ ...ended, duration: 0 }, { summary: 's' }], 0],
  ])('duration: %s', (_, changes, duration) => {
    expect(callAfter(...changes).duration).toBe(duration)
  })

  test.each<[string, CallChange[], boolean, boolean]>([
    ['true where the caller said anything', [{ transcript: turns(2), status: 'completed' }], true, true],
    [
      'false where only the agent did',
      [{ transcript: [turn('assistant', 'Hello?')], status: 'completed' }],
      false,
      true,
    ],
    ['unknown without a transcript', [{ status: 'completed' }], false, false],
    ['unknown while the call is live', [{ transcript: turns(2) }], false, false],
    ['as turns that come later tell', [{ status: 'completed' }, { transcript: turns(1) }], true, true],
    [
      'not where somebody has said it',
      [{ isEngaged: false }, { transcript: turns(1), status: 'completed' }],
      false,
      true,
    ],
    [
      'not where somebody says it later, in an older event',
      [
        { occurredAt: at(2), transcript: turns(1), status: 'completed' },
        { occurredAt: at(1), isEngaged: false },
      ],
      false,
      true,
    ],
  ])('isEngaged: %s', (_, changes, isEngaged, isKnown) => {
    const stored = merged(...changes)
    expect([stored.call.isEngaged, isEngagementKnown(stored)]).toEqual([isEngaged, isKnown])
    expect(toHead(stored).isEngaged).toBe(isKnown ? Number(isEngaged) : 2)
  })

  test('details.latencyMs: the median of the turns by nearest rank, until somebody says it', () => {
    const latencyOf = (...changes: CallChange[]) => {
      const stored = merged(...changes)
      expect(stored.latencyMs).toBe(JSON.parse(stored.details ?? 'null')?.latencyMs ?? null)
      return stored.latencyMs
    }
    expect(latencyOf(turnsWith(900, 300, 600, 1_200), { status: 'completed' })).toBe(600)
    expect(latencyOf(turnsWith(900, 300, 600, 1_200))).toBeNull()
    expect(latencyOf({ status: 'completed' }, turnsWith(900), { summary: 's' })).toBe(900)
    expect(latencyOf(turnsWith(900), { status: 'completed' }, turnsWith(100, 200, 300))).toBe(200)
    expect(latencyOf(turnsWith(900), { status: 'completed' }, { details: { timeline: null } })).toBeNull()
    expect(latencyOf(turnsWith(900), { details: { latencyMs: 5 } }, { status: 'completed' })).toBe(5)
    expect(latencyOf(turnsWith(900), ended, { occurredAt: at(1), details: { latencyMs: 5 } })).toBe(5)
    expect(
      latencyOf(turnsWith(900), { status: 'completed' }, { details: { latencyMs: 5 } }, turnsWith(1)),
    ).toBe(5)
  })

  test('a silent end derives, too', () => {
    const before = merged({ transcript: turns(1) }, turnsWith(800, 900))
    const after = endSilently(before, day)
    expect(after.call).toMatchObject({ duration: 10.5, isEngaged: true, endedReason: 'silence' })
    expect(JSON.parse(after.document)).toEqual(after.call)
    expect(JSON.parse(after.details ?? '')).toMatchObject({ latencyMs: 800 })
    expect(detailsOf({ transcript: turns(1) }, turnsWith(800, 900)).latencyMs).toBeNull()
  })
})

describe('an event that is older than the newest one merged', () => {
  const newest: CallChange = { occurredAt: at(10), summary: 'new' }

  test('fills what is still null or empty and leaves the rest', () => {
    const late: CallChange = {
      occurredAt: at(5),
      summary: 'old',
      evaluation: 'success',
      endedReason: 'hang-up',
      callerNumber: '+1',
      calledNumber: '+2',
      duration: 7,
      callAnalysis: { a: 1 },
      transcript: turns(1),
    }
    const call = callAfter(newest, late)
    const { occurredAt: _, ...filling } = late
    expect(call).toMatchObject({ ...filling, summary: 'new', updatedAt: at(1) })
  })

  test.each([
    ['summary', '', 'filled'],
    ['duration', 0, 4.5],
    ['transcript', [], turns(2)],
    ['callAnalysis', {}, { a: 1 }],
    ['callAnalysis', null, { a: 1 }],
  ] as const)('counts %s %j as empty', (field, empty, value) => {
    const call = callAfter({ occurredAt: at(10), [field]: empty }, { occurredAt: at(5), [field]: value })
    expect(call[field]).toEqual(value as never)
  })

  test('does not overwrite, does not clear, and does not say that the call is not engaged', () => {
    const first: CallChange = {
      occurredAt: at(10),
      summary: 'new',
      duration: 5,
      isEngaged: true,
      callAnalysis: { a: 1 },
      transcript: turns(3),
      metadata: { m: 1 },
    }
    const late: CallChange = {
      occurredAt: at(9),
      summary: null,
      duration: 0,
      isEngaged: false,
      callAnalysis: null,
      transcript: [],
      metadata: null,
      status: 'live',
    }
    expect(merged(first, late)).toEqual(heard(merged(first), 60_000))
  })

  test('leaves what is empty as it is when it has nothing to fill it with', () => {
    const first: CallChange = { occurredAt: at(10), summary: '', callAnalysis: {}, metadata: {} }
    const late: CallChange = { occurredAt: at(9), summary: null, callAnalysis: null, metadata: null }
    expect(merged(first, late)).toEqual(heard(merged(first), 60_000))
  })

  test('only adds keys to metadata, of which the newest event says each', () => {
    const late: CallChange = { occurredAt: at(1), metadata: { old: 1 } }
    expect(merged(newest, late).metadata).toBe('{"old":1}')
    expect(merged({ ...newest, metadata: {} }, late).metadata).toBe('{"old":1}')
    expect(merged({ ...newest, metadata: { new: 1 } }, late).metadata).toBe('{"new":1,"old":1}')
    expect(merged({ ...newest, metadata: { old: 2 } }, late).metadata).toBe('{"old":2}')
    const clearing: CallChange = { occurredAt: at(1), metadata: { new: null } }
    expect(merged({ ...newest, metadata: { new: 1 } }, clearing).metadata).toBe('{"new":1}')
  })

  test('still completes the call and appends its turns: neither can come in a wrong order', () => {
    const late: CallChange = {
      occurredAt: at(1),
      status: 'completed',
      appendTranscript: { at: 1, turns: [turn('assistant', 'b')] },
    }
    const call = callAfter({ ...newest, transcript: [turn('user', 'a')] }, late)
    expect(call.status).toBe('completed')
    expect(call.transcript).toEqual([turn('user', 'a'), turn('assistant', 'b')])
  })

  test('does not date the call, unless it changes it: then it changed now', () => {
    const first: CallChange = { ...newest, updatedAt: at(20) }
    expect(callAfter(first, { occurredAt: at(5), summary: 'x', updatedAt: at(6) }).updatedAt).toBe(at(20))
    expect(callAfter(first, { occurredAt: at(5), duration: 3, updatedAt: at(6) }).updatedAt).toBe(at(1))
  })

  test('leaves the newest time as it is; an event of the same time, or of none, is not late', () => {
    const stored = merged(newest, { occurredAt: at(5) })
    expect(stored.occurredAt).toBe(Date.parse(at(10)))
    expect(callAfter(newest, { occurredAt: at(10), summary: 'same time' }).summary).toBe('same time')
    expect(callAfter(newest, { summary: 'no time' }).summary).toBe('no time')
    expect(merged(newest, { summary: 'no time' }).occurredAt).toBe(Date.parse(at(10)))
    expect(merged(newest, { occurredAt: null, summary: 'null' })).toMatchObject({
      call: { summary: 'null' },
      occurredAt: Date.parse(at(10)),
    })
  })

  test('is compared as a moment, not as text', () => {
    const call = callAfter(
      { occurredAt: '2026-03-01T12:00:00+00:00', summary: 'older' },
      { occurredAt: '2026-03-01T11:30:00.000-01:00', summary: 'newer' },
      { occurredAt: '2026-03-01T13:00:00+02:00', summary: 'oldest' },
    )
    expect(call.summary).toBe('newer')
  })
})

const anyText = fc.string({ unit: 'grapheme', maxLength: 8 })
const anyTime = fc.integer({ min: 0, max: Date.UTC(2100, 0) }).map((time) => new Date(time).toISOString())
const anyTurn = fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: anyText })
const anyObject = fc.dictionary(anyText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
const anyTextOrNull = fc.option(anyText)
const anyChange: fc.Arbitrary<CallChange> = fc.record(
  {
    status: fc.constantFrom('live' as const, 'completed' as const),
    duration: fc.oneof(fc.constant(0), fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })),
    summary: anyTextOrNull,
    evaluation: anyTextOrNull,
    endedReason: anyTextOrNull,
    callerNumber: anyTextOrNull,
    calledNumber: anyTextOrNull,
    isEngaged: fc.boolean(),
    callAnalysis: fc.option(anyObject),
    transcript: fc.array(anyTurn, { maxLength: 4 }),
    createdAt: anyTime,
    updatedAt: anyTime,
    occurredAt: fc.option(anyTime),
    metadata: fc.option(anyObject),
    details: fc.record(
      {
        agent: fc.option(fc.record({ id: anyText, name: anyTextOrNull }, { requiredKeys: ['id'] })),
        direction: fc.constantFrom(null, 'inbound' as const, 'web' as const),
        costUsd: fc.option(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })),
        timeline: fc.option(
          fc.array(
            fc.record(
              {
                atSeconds: fc.nat(),
                kind: fc.constant('tool_call' as const),
                turn: fc.nat(),
                text: anyTextOrNull,
              },
              { requiredKeys: ['atSeconds', 'kind'] },
            ),
            { maxLength: 3 },
          ),
        ),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)

describe('laws', () => {
  test('the same change twice changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 4 }), anyChange, (history, change) => {
        let stored: StoredCall | null = null
        for (const [minute, earlier] of history.entries())
          stored = mergeCall(stored, 'call-1', earlier, day + minute)
        const once = mergeCall(stored, 'call-1', change, day + 1_000)
        expect(mergeCall(once, 'call-1', change, day + 2_000)).toEqual(once)
      }),
      runs(200),
    )
  })

  test('a call put again as it is served is unchanged, and a new one like it is equal', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { minLength: 1, maxLength: 4 }), (history) => {
        const stored = merged(...history)
        // Nothing of the call itself is derived any more, and a duration of 0 is said as well.
        const { status, duration } = stored.call
        const saidZero = status === 'completed' && duration === 0 ? 8 : 0
        const said = {
          createdOnArrival: false,
          engagementStated: true,
          derived: (stored.derived & 18) | saidZero,
        }
        expect(mergeCall(stored, 'call-1', stored.call, day + 9e6)).toEqual({
          ...heard(stored, 9e6),
          ...said,
        })
        expect(mergeCall(null, 'call-1', stored.call, day + 9e6).call).toEqual(stored.call)
      }),
      runs(200),
    )
  })

  test('a call that two requests complete lasts until the earlier end, whichever of them comes first', () => {
    const ends = [1, 2].map(
      (minute) => ({ status: 'completed', createdAt: at(0), occurredAt: at(minute) }) as const,
    )
    for (const [one, other] of [ends, ends.toReversed()])
      expect(callAfter({ createdAt: at(0) }, one ?? {}, other ?? {}).duration).toBe(60)
  })

  // What a request may be told apart by: of each field the newest event speaks, or all that speak of it agree.
  // Where older events contradict each other, §4 lets the first to arrive fill the gap.
  test('events that carry occurredAt give the same call in every order', () => {
    const truth = fc.record({
      duration: fc.double({ min: 0.1, max: 1e6, noNaN: true }),
      summary: fc.string({ minLength: 1 }),
      evaluation: fc.string({ minLength: 1 }),
      endedReason: fc.string({ minLength: 1 }),
      callerNumber: fc.string({ minLength: 1 }),
      calledNumber: fc.string({ minLength: 1 }),
      callAnalysis: fc.dictionary(fc.string(), fc.nat(), { minKeys: 1 }),
      transcript: fc.array(anyTurn, { minLength: 1, maxLength: 5 }),
      metadata: fc.dictionary(fc.string(), fc.nat(), { minKeys: 1 }),
      details: fc.record({
        agent: fc.record({ id: fc.string({ minLength: 1 }), name: anyTextOrNull, version: anyTextOrNull }),
        costUsd: fc.double({ min: 0.1, max: 100, noNaN: true }),
        recordingUrl: fc.webUrl(),
        latencyMs: fc.integer({ min: 1 }),
        timeline: fc.constant<TimelineEntry[]>([{ atSeconds: 1, kind: 'turn', turn: 0 }]),
      }),
    } satisfies Record<string, fc.Arbitrary<unknown>>)
    const events = truth.chain((facts) => {
      const older = fc.record(
        {
          ...constants(facts),
          isEngaged: fc.constant(true),
          status: fc.constantFrom('live' as const, 'completed' as const),
        },
        { requiredKeys: [] },
      )
      const newest = fc
        .tuple(older, anyChange)
        .map(([agreeing, { isEngaged, status }]) => ({ ...agreeing, isEngaged, status: status ?? 'live' }))
      const contradicting = fc.record(
        { duration: fc.nat(), summary: fc.string(), callAnalysis: fc.option(anyObject) },
        { requiredKeys: [] },
      )
      return fc.tuple(fc.array(fc.tuple(older, contradicting), { maxLength: 5 }), newest)
    })
    const arrivals = events.chain(([older, newest]) => {
      const all: CallChange[] = older.map(([agreeing, contradicting], i) => ({
        ...agreeing,
        ...overruled(contradicting, newest),
        createdAt: at(0),
        occurredAt: at(i),
      }))
      all.push({ ...withoutUndefined(newest), createdAt: at(0), occurredAt: at(older.length) })
      const shuffled = fc.shuffledSubarray(all, { minLength: all.length })
      return fc.tuple(fc.constant(all), shuffled)
    })
    fc.assert(
      fc.property(arrivals, ([inOrder, shuffled]) => {
        const { updatedAt: _, ...expected } = callAfter(...inOrder)
        const { updatedAt: __, ...call } = callAfter(...shuffled)
        expect(call).toEqual(expected)
        expect(merged(...shuffled).metadata).toBe(merged(...inOrder).metadata)
        expect(merged(...shuffled).details).toBe(merged(...inOrder).details)
        expect(merged(...shuffled).occurredAt).toBe(merged(...inOrder).occurredAt)
      }),
      runs(300),
    )
  })

  test('no change gives a call that cannot be put again', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { minLength: 1, maxLength: 4 }), (history) => {
        const { call } = merged(...history)
        expect(Object.keys(call)).toHaveLength(13)
        expect(call.duration).toBeGreaterThanOrEqual(0)
        for (const time of [call.createdAt, call.updatedAt])
          expect(time).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
      }),
    )
  })
})

function constants<Facts extends Record<string, unknown>>(facts: Facts) {
  return Object.fromEntries(Object.entries(facts).map(([field, value]) => [field, fc.constant(value)])) as {
    [Field in keyof Facts]: fc.Arbitrary<Facts[Field]>
  }
}

/** An older event may say what it likes of a field that the newest one speaks of. */
function overruled(contradicting: CallChange, newest: CallChange): CallChange {
  const entries = Object.entries(contradicting).filter(([field]) => field in newest)
  return Object.fromEntries(entries)
}

function withoutUndefined(change: CallChange): CallChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

describe('times', () => {
  test.each([
    ['2026-01-31T09:30:00.000Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31t09:30:00z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00.1Z', '2026-01-31T09:30:00.100Z'],
    ['2026-01-31T09:30:00.123456789Z', '2026-01-31T09:30:00.123Z'],
    ['2026-01-31T09:30:59.999999999Z', '2026-01-31T09:30:59.999Z'],
    ['2026-01-31T09:30:00+05:30', '2026-01-31T04:00:00.000Z'],
    ['2026-01-31T09:30:00-12:00', '2026-01-31T21:30:00.000Z'],
    ['2026-01-31T09:30:00-00:00', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T24:00:00Z', '2026-02-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['1969-12-31T23:00:00-01:00', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, time) => {
    expect(callAfter({ createdAt: text, updatedAt: text, occurredAt: text })).toMatchObject({
      createdAt: time,
      updatedAt: time,
    })
  })

  test.each([
    '2026-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2026-04-31T00:00:00+02:00',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-31T25:00:00Z',
    '2026-01-31T24:00:01Z',
    '2026-01-31T09:60:00Z',
    '2026-12-31T23:59:60Z',
    '2026-01-31T09:30:00+24:00',
    '2026-01-31T09:30:00+05:60',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:30:00+01:00',
    '0000-01-01T00:00:00Z',
    '0026-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999-01:00',
  ])('%s is refused: it does not exist, or lies before 1970 or after 9999', (text) => {
    const error = refusalOf({ createdAt: text, updatedAt: text, occurredAt: text })
    expect(error).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(fieldsOf(error)).toEqual(['createdAt', 'updatedAt', 'occurredAt'])
  })
})

describe('what fits no schema', () => {
  test('an id that is not the one in the path is refused', () => {
    expect(fieldsOf(refusalOf({ id: 'call-2' }))).toEqual(['id'])
    expect(callAfter({ id: 'call-1' }).id).toBe('call-1')
  })

  test('metadata is at most 64 KiB, as UTF-8', () => {
    const ofBytes = (bytes: number) => ({ a: 'é'.repeat((bytes - 8) / 2) })
    expect(merged({ metadata: ofBytes(65_536) }).metadata).not.toBeNull()
    expect(fieldsOf(refusalOf({ metadata: ofBytes(65_538) }))).toEqual(['metadata'])
    const full = merged({ metadata: ofBytes(65_536) })
    const more = () => mergeCall(full, 'call-1', { details: { metadata: { more: 1 } } }, day)
    expect(more).toThrow('details.metadata: would make')
    expect(mergeCall(full, 'call-1', { metadata: { a: 1 } }, day).metadata).toBe('{"a":1}')
  })
})
