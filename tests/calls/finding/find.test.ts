import { beforeAll, describe, expect, spyOn, test } from 'bun:test'
import type { CallQuery } from '../../../src/calls/finding/call-query.ts'
import { readWordQuery } from '../../../src/calls/finding/word-query.ts'
import type { CallRow, CallRows } from '../../../src/calls/reading/call-rows.ts'
import { findMatch } from '../../../src/calls/reading/text-match.ts'
import type { CallChange } from '../../../src/calls/schemas.ts'
import { AppError } from '../../../src/errors.ts'
import { foldText, wordsOf } from '../../../src/text/words.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { startService } from '../../support/service.ts'
import { putCalls, said } from '../put-calls.ts'
import { isFound, wordsSaid } from '../rules.ts'

type Input = CallChange & { id: string }
const service = await startService()

async function projectWith(inputs: Input[]): Promise<number> {
  const { projectId } = await service.mintProject()
  await putCalls(service.services, projectId, inputs)
  await service.services.wordBacklog.finish()
  return projectId
}

function find(projectId: number, filters: CallQuery): Promise<CallRows> {
  return service.services.calls.rows(projectId, filters)
}

async function idsOf(projectId: number, filters: CallQuery): Promise<string[]> {
  return (await find(projectId, filters)).data.map(({ id }) => id)
}

/** All pages, one after the other. */
async function walk(projectId: number, filters: CallQuery): Promise<CallRow[]> {
  const rows: CallRow[] = []
  let cursor: string | undefined
  do {
    const page = await find(projectId, { ...filters, ...(cursor ? { cursor } : {}) })
    rows.push(...page.data)
    cursor = page.nextCursor ?? undefined
  } while (cursor)
  return rows
}

function at(minute: number): string {
  return new Date(Date.UTC(2026, 0, 5) + minute * 60_000).toISOString()
}

async function problemsOf(filters: CallQuery): Promise<string[]> {
  const error = await find(1, filters).catch((error) => error)
  expect(error).toBeInstanceOf(AppError)
  expect(error.code).toBe('invalid_request')
  return error.errors.map(({ field }: { field: string }) => field)
}

describe('a page of calls', () => {
  test('shows what a list shows, newest first', async () => {
    const projectId = await projectWith([
      { id: 'old', createdAt: at(0), updatedAt: at(1) },
      {
        id: 'new',
        createdAt: at(2),
        updatedAt: at(3),
        status: 'completed',
        duration: 91.25,
        callerNumber: '+1 555 010',
        calledNumber: '+1 555 020',
        evaluation: 'success',
        isEngaged: true,
        endedReason: 'customer-ended-call',
        summary: 'Moved the "booking" to Friday.\n👋',
        callAnalysis: { summary: 'not this one' },
      },
    ])
    expect(await find(projectId, {})).toEqual({
      data: [
        {
          id: 'new',
          createdAt: at(2),
          updatedAt: at(3),
          status: 'completed',
          duration: 91.25,
          callerNumber: '+1 555 010',
          calledNumber: '+1 555 020',
          numbers: { callerNumber: '+1 555 010', calledNumber: '+1 555 020' },
          evaluation: 'success',
          isEngaged: true,
          endedReason: 'customer-ended-call',
          summary: 'Moved the "booking" to Friday.\n👋',
          source: null,
          agentId: null,
          review: null,
          recording: null,
          sound: null,
          match: null,
          said: null,
          talkTimeline: null,
          agentName: null,
          agentVersion: null,
          costUsd: null,
          latencyMs: null,
          criteria: { passed: 0, judged: 0 },
          heardAt: null,
          direction: null,
        },
        {
          id: 'old',
          createdAt: at(0),
          updatedAt: at(1),
          status: 'live',
          duration: 0,
          callerNumber: null,
          calledNumber: null,
          numbers: { callerNumber: null, calledNumber: null },
          evaluation: null,
          isEngaged: false,
          endedReason: null,
          summary: null,
          source: null,
          agentId: null,
          review: null,
          recording: null,
          sound: null,
          match: null,
          said: null,
          talkTimeline: null,
          agentName: null,
          agentVersion: null,
          costUsd: null,
          latencyMs: null,
          criteria: { passed: 0, judged: 0 },
          heardAt: expect.any(String),
          direction: null,
        },
      ],
      nextCursor: null,
      total: 2,
      totalMax: 10_000,
      foundBy: null,
    })
  })

  test('of a project without calls is empty', async () => {
    const { projectId } = await service.mintProject()
    for (const filters of [{}, { text: 'hello' }, { status: 'live' }])
      expect(await find(projectId, filters)).toEqual({
        data: [],
        nextCursor: null,
        total: 0,
        totalMax: 10_000,
        foundBy: 'text' in filters ? 'words' : null,
      })
  })

  test('has the first 300 characters of a summary, however it is escaped', async () => {
    const summaries = [
      '\u0001"\\\n'.repeat(500),
      'é漢字👋'.repeat(200),
      '\\u0041'.repeat(100),
      '',
      'x'.repeat(300),
    ]
    const projectId = await projectWith(
      summaries.map((summary, n) => ({ id: `${n}`, createdAt: at(9 - n), summary })),
    )
    const { data } = await find(projectId, {})
    for (const [n, summary] of summaries.entries())
      expect(data[n]?.summary).toBe(summary.slice(0, 300).toWellFormed())
  })

  test('is followed by others until all were there, of calls of one moment by id', async () => {
    const inputs = Array.from({ length: 25 }, (_, n) => ({ id: `c${n}`, createdAt: at(Math.floor(n / 10)) }))
    const projectId = await projectWith(inputs)
    const expected = inputs
      .toSorted((a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id))
      .map(({ id }) => id)
    for (const limit of ['1', '4', '25', '200']) {
      expect((await walk(projectId, { limit })).map(({ id }) => id)).toEqual(expected)
      expect((await walk(projectId, { limit, to: at(100) })).map(({ id }) => id)).toEqual(expected)
    }
  })

  test('has those of some calls that filters leave, as they are now', async () => {
    const projectId = await projectWith(
      ['a', 'b', 'c', 'd'].map((id, n) => ({
        id,
        createdAt: at(n),
        evaluation: id === 'b' ? 'fail' : null,
        ...said(`I am ${id}.`),
      })),
    )
    expect(await idsOf(projectId, { id: ['a', 'b', 'gone', 'c'] })).toEqual(['c', 'b', 'a'])
    expect(await idsOf(projectId, { id: ['a', 'b'], evaluation: 'none', order: 'duration' })).toEqual(['a'])
    expect(await idsOf(projectId, { id: ['a', 'b', 'c'], text: 'I am b' })).toEqual(['b'])
    expect(await problemsOf({ id: Array.from({ length: 201 }, (_, n) => `${n}`) })).toEqual(['id'])
  })

  test('goes on where the one before has ended, whatever comes and goes meanwhile', async () => {
    const projectId = await projectWith(
      Array.from({ length: 30 }, (_, n) => ({ id: `c${n}`, createdAt: at(n), ...said('hello there') })),
    )
    for (const filters of [{}, { text: 'hello' }]) {
      const first = await find(projectId, { ...filters, limit: '10' })
      const kept = `${Math.random()}`
      await putCalls(service.services, projectId, [
        { id: `newer-${kept}`, createdAt: at(900), ...said('hello') },
        { id: `older-${kept}`, createdAt: at(-900), ...said('hello') },
      ])
      const last = first.data.at(-1)?.id ?? ''
      await service.services.calls.delete(projectId, last)
      const rest = await walk(projectId, { ...filters, cursor: first.nextCursor ?? '' })
      const seen = [...first.data, ...rest].map(({ id }) => id)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen).toContain(`older-${kept}`)
      expect(seen).not.toContain(`newer-${kept}`)
    }
  })
})

describe('filters', () => {
  const inputs: Input[] = [
    { id: 'live', createdAt: at(1), callerNumber: '+15557294053' },
    {
      id: 'good',
      createdAt: at(2),
      status: 'completed',
      evaluation: 'success',
      isEngaged: true,
      duration: 0.5,
      callAnalysis: { score: 4, deep: { no: 1 } },
    },
    {
      id: 'bad',
      createdAt: at(3),
      status: 'completed',
      evaluation: 'fail',
      endedReason: 'silence-timed-out',
      duration: 2.5,
      callAnalysis: { score: true, 'a.b=c': 'x,y' },
    },
    {
      id: 'rubric',
      createdAt: at(4),
      status: 'completed',
      evaluation: 'B+',
      calledNumber: '+1 (555) 010-0044',
      callAnalysis: { score: '4' },
    },
    {
      id: 'long',
      createdAt: at(5),
      status: 'completed',
      evaluation: 'x'.repeat(300),
      endedReason: 'y'.repeat(300),
    },
  ]
  /** What tests/calls/oracle.test.ts does not ask for: other spellings, ends and combinations. */
  const cases: [CallQuery, string[]][] = [
    [{ evaluation: ['none', 'fail', 'fail'] }, ['bad', 'live']],
    [{ endedReason: ['none', 'silence-timed-out'], status: 'completed' }, ['rubric', 'bad', 'good']],
    [{ callerNumber: '15557294053' }, []],
    [{ calledNumber: ['+1 (555) 010-0044', 'x'] }, ['rubric']],
    [{ minDuration: '5e-1', maxDuration: '1e+22' }, ['bad', 'good']],
    [{ minDuration: '1', maxDuration: '2.5' }, ['bad']],
    [{ completedFrom: '2026-01-05' }, ['long', 'rubric', 'bad', 'good']],
    [{ completedFrom: '2026-01-05', completedTo: '9999-12-31' }, ['long', 'rubric', 'bad', 'good']],
    [{ completedTo: '2026-01-05' }, []],
    [{ updatedFrom: at(103) }, ['long', 'rubric', 'bad']],
    [{ 'analysis.score': '4' }, ['rubric', 'good']],
    [{ 'analysis.score': '4.0' }, ['good']],
    [{ 'analysis.score': ['4', 'true'] }, ['rubric', 'bad', 'good']],
    [{ 'analysis.a.b=c': 'x\\,y' }, ['bad']],
    [{ 'analysis.score': '4', 'analysis.deep': 'no' }, []],
    [{ from: '2026-01-05', to: '2026-01-06' }, ['long', 'rubric', 'bad', 'good', 'live']],
    [{ evaluation: 'x'.repeat(300) }, ['long']],
    [{ evaluation: 'Success' }, []],
    [{ endedReason: 'y'.repeat(200) }, ['long']],
    [{ from: at(4), to: at(2) }, []],
    [{ from: '2026-01-05T02:03:00+02:00' }, ['long', 'rubric', 'bad']],
    [{ number: '1555' }, ['rubric', 'live']],
    [{ number: '+1 555-729' }, ['live']],
    [{ number: '100044' }, ['rubric']],
    [{ number: '15550100044' }, ['rubric']],
    [{ number: '7294' }, []],
  ]
  let projectId: number
  beforeAll(async () => {
    projectId = await projectWith(
      inputs.map((input, n) => ({ ...input, ...said('hello'), updatedAt: at(101 + n) })),
    )
  })

  test.each(cases)('%p', async (filters, expected) => {
    const page = await find(projectId, filters)
    expect(page.data.map(({ id }) => id)).toEqual(expected)
    expect(page.total).toBe(expected.length)
    expect(await idsOf(projectId, { ...filters, text: 'hello' })).toEqual(expected)
    expect(await idsOf(projectId, { ...filters, text: 'goodbye' })).toEqual([])
  })

  test('see a number and an evaluation that were changed', async () => {
    const own = await projectWith([{ id: 'a', callerNumber: '111', evaluation: 'fail' }])
    await putCalls(service.services, own, [{ id: 'a', callerNumber: '+2-22', evaluation: null }])
    expect(await idsOf(own, { number: '111' })).toEqual([])
    expect(await idsOf(own, { number: '222', evaluation: 'none' })).toEqual(['a'])
    // It is no value that can be asked for.
    await putCalls(service.services, own, [{ id: 'none', evaluation: 'none' }])
    expect(await idsOf(own, { evaluation: 'none' })).toEqual(['a'])
  })

  test('that cannot be read are each named', async () => {
    expect(
      await problemsOf({
        status: 'ended',
        isEngaged: 'yes',
        from: 'yesterday',
        to: '2026-02-30T00:00:00Z',
        completedFrom: 'today',
        completedTo: '1',
        updatedFrom: '2026-02-01,2026-02-02',
        minDuration: '-1',
        maxDuration: '0x10',
        number: 'anonymous',
        cursor: 'nonsense',
        limit: '0',
        order: 'id',
        text: '',
        'analysis.a': '',
      }),
    ).toEqual([
      'limit',
      'order',
      'status',
      'isEngaged',
      'from',
      'to',
      'completedFrom',
      'completedTo',
      'updatedFrom',
      'minDuration',
      'maxDuration',
      'number',
      'text',
      'analysis.a',
      'cursor',
    ])
    expect(await problemsOf({ evaluation: 'x'.repeat(501), text: 'x'.repeat(501) })).toEqual([
      'evaluation',
      'text',
    ])
    for (const limit of ['201', '-1', '1.5', '1e2', ' 5', '0x10'])
      expect(await problemsOf({ limit })).toEqual(['limit'])
    const forged = [`${Date.now()}..a b`, '1.2', '-5..a', `1..${'a'.repeat(129)}`, 'NaN..a']
    for (const text of forged)
      expect(await problemsOf({ cursor: Buffer.from(text).toString('base64url') })).toEqual(['cursor'])
  })
})

describe('the total', () => {
  test('stays on the pages after the first', async () => {
    const projectId = await projectWith(
      Array.from({ length: 12 }, (_, n) => ({ id: `${n}`, createdAt: at(n), ...said('hello') })),
    )
    for (const filters of [{}, { status: 'live' }, { text: 'hello' }]) {
      const first = await find(projectId, { ...filters, limit: '5' })
      const second = await find(projectId, { ...filters, limit: '5', cursor: first.nextCursor ?? '' })
      expect([first.total, second.total]).toEqual([12, 12])
    }
  })
})

describe('a text', () => {
  test('is found in the transcript and in the summary, by all of its words', async () => {
    const projectId = await projectWith([
      { id: 'both', createdAt: at(3), summary: 'Refund granted', ...said('My parcel is late') },
      { id: 'parcel', createdAt: at(2), ...said('Where is my parcel?', 'Thanks') },
      { id: 'refund', createdAt: at(1), summary: 'A refund' },
      { id: 'other', createdAt: at(0), callAnalysis: { parcel: 'refund' }, metadata: { parcel: 'refund' } },
    ])
    expect(await idsOf(projectId, { text: 'parcel' })).toEqual(['both', 'parcel'])
    expect(await idsOf(projectId, { text: 'refund' })).toEqual(['both', 'refund'])
    expect(await idsOf(projectId, { text: 'refund parcel' })).toEqual(['both'])
    expect(await idsOf(projectId, { text: 'parcel parcel' })).toEqual(['both', 'parcel'])
    expect(await idsOf(projectId, { text: 'parcel nothing' })).toEqual([])
  })

  test('is found in any form of its words, and the last may be a beginning', async () => {
    const projectId = await projectWith([
      { id: 'cancel', createdAt: at(9), ...said('I was cancelling my subscriptions') },
      { id: 'business', createdAt: at(8), ...said('It is a business, but small') },
      { id: 'bus', createdAt: at(7), ...said('two buses') },
      { id: 'happy', createdAt: at(6), ...said('Happiness is a cortado') },
    ])
    for (const text of [
      'cancel',
      'CANCELLED',
      'cancellin',
      'canc',
      'subscription cancel',
      'subscribtion'.slice(0, 6),
    ])
      expect([text, await idsOf(projectId, { text })]).toEqual([text, ['cancel']])
    expect(await idsOf(projectId, { text: 'canc subscriptions' })).toEqual([])
    expect(await idsOf(projectId, { text: 'bus' })).toEqual(['business', 'bus'])
    expect(await idsOf(projectId, { text: 'happines' })).toEqual(['happy'])
    // A single letter would be the beginning of nearly everything.
    expect(await idsOf(projectId, { text: 'b' })).toEqual([])
    expect(await idsOf(projectId, { text: 'a' })).toEqual(['business', 'happy'])
  })

  test.each([
    ['Crème brûlée, s’il vous plaît', ['creme', 'BRULEE', 'brûl', 'il plait', "s'il"]],
    ['Ich möchte eine Straße', ['mochte', 'strasse'.replace('ss', 'ß'), 'Ich MÖCHTE']],
    ['退款政策是什么', ['退款', '款政策', '退', '什么', '策']],
    ['환불 정책을 알려 주세요', ['환불', '정책', '환']],
    ['返金ポリシーを教えて', ['返金', 'ポリシー', 'ﾎﾟﾘｼｰ']],
    ['Заказ ещё не пришёл', ['заказ', 'пришел', 'еще не']],
    ['ｆｕｌｌ ｗｉｄｔｈ １２３', ['full', 'width', '123']],
    ['50 ₨ or 3㎏', ['rs', '3kg']],
    [
      "Don't O'Brien-Smith co-op 555-0100 a@b.example",
      ["don't", 'obrien'.replace('ob', "o'b"), 'smith', '555 0100', 'b.exam'],
    ],
    ['the 🎂 emoji', ['emoji', 'the emoji', '🎂 the']],
  ])('%s', async (content, texts) => {
    const projectId = await projectWith([
      { id: 'this', ...said(content) },
      { id: 'other', ...said('Something else') },
    ])
    for (const text of texts) expect([text, await idsOf(projectId, { text })]).toEqual([text, ['this']])
  })

  test('that is the syntax of the keyword index is text', async () => {
    const projectId = await projectWith([
      { id: 'a', createdAt: at(1), ...said('near or not and words') },
      { id: 'b', createdAt: at(0), ...said('plain') },
    ])
    const all = [
      'near',
      'NOT',
      '"near',
      'near*',
      'words:near',
      '-words + near',
      '^near',
      'near"or"',
      "near' --",
      '{near}',
      'near NOT words',
    ]
    for (const text of all) expect([text, await idsOf(projectId, { text })]).toEqual([text, ['a']])
    for (const text of ['NEAR(plain)', 'plain OR near', 'plain AND near', '*', '""', '-', '(', '🎂', '   '])
      expect([text, await idsOf(projectId, { text })]).toEqual([text, []])
  })

  test('is found in a word of any length', async () => {
    const long = `${'a1b2'.repeat(5_000)}`
    const projectId = await projectWith([{ id: 'a', ...said(`x ${long} y`) }])
    expect(await idsOf(projectId, { text: long.slice(0, 500) })).toEqual(['a'])
    expect(await idsOf(projectId, { text: `${long.slice(0, 50)}z` })).toEqual([])
  })

  test('is no longer found when it was deleted or changed, and what replaces it is', async () => {
    const projectId = await projectWith([
      { id: 'a', ...said('apples'), summary: 'pears' },
      { id: 'b', ...said('apples') },
    ])
    await service.services.calls.delete(projectId, 'b')
    expect(await idsOf(projectId, { text: 'apples' })).toEqual(['a'])
    await putCalls(service.services, projectId, [{ id: 'a', ...said('cherries') }])
    expect(await idsOf(projectId, { text: 'apples' })).toEqual([])
    expect(await idsOf(projectId, { text: 'cherries pears' })).toEqual(['a'])
    await putCalls(service.services, projectId, [
      { id: 'a', appendTranscript: { at: 1, turns: [{ role: 'assistant', content: 'plums' }] } },
    ])
    expect(await idsOf(projectId, { text: 'plums cherries pears' })).toEqual(['a'])
    await putCalls(service.services, projectId, [{ id: 'a', transcript: [], summary: null }])
    expect(await idsOf(projectId, { text: 'plums' })).toEqual([])
  })

  test('of another project is not found, whatever numbers the calls have', async () => {
    const [one, two] = [
      await projectWith([{ id: 'a', ...said('secret') }]),
      await projectWith([{ id: 'a', ...said('plain') }]),
    ]
    await putCalls(service.services, one, [{ id: 'b', ...said('secret plain') }])
    expect(await idsOf(two, { text: 'secret' })).toEqual([])
    expect(await idsOf(two, { text: 'plain' })).toEqual(['a'])
    const { data } = await find(two, {})
    expect(data).toHaveLength(1)
    const first = await find(one, { limit: '1' })
    const otherCursor = find(two, { cursor: first.nextCursor ?? '' })
    expect((await otherCursor.catch((error) => error)).errors[0].field).toBe('cursor')
  })

  test('is found exactly where a comparison of all words finds it, in any order of coming in', async () => {
    const vocabulary = [
      'the',
      'thesis',
      'bus',
      'business',
      'cancel',
      'cancelled',
      'café',
      '退款',
      '退',
      'a',
      'x1',
      "it's",
    ]
    const random = createRandom(7)
    const inputs = Array.from({ length: 1_000 }, (_, n) => ({
      id: `c${n}`,
      createdAt: at(Math.floor(random() * 900)),
      evaluation: random() < 0.05 ? 'rare' : 'success',
      summary: random() < 0.3 ? pick(vocabulary, random) : null,
      // Words that only the oldest have, and words that all have.
      ...said(`${n % 200 === 0 ? 'seldom' : ''} the ${pick(vocabulary, random)}`, pick(vocabulary, random)),
    }))
    const projectId = await projectWith(inputs)
    const ordered = inputs
      .toSorted((a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id))
      .map((call) => ({ ...call, said: wordsSaid(call) }))
    for (const text of [
      ...vocabulary,
      'the bus',
      'cancel bus',
      'seldom',
      'seldom the',
      'th',
      'the c',
      'business café',
      'x',
    ]) {
      for (const filters of [{}, { evaluation: 'rare' }]) {
        const expected = ordered.filter(
          (call) =>
            isFound(call.said, text) && (!filters.evaluation || call.evaluation === filters.evaluation),
        )
        const rows = await walk(projectId, { ...filters, text, limit: '200' })
        expect([text, rows.map(({ id }) => id)]).toEqual([text, expected.map(({ id }) => id)])
      }
    }
  })

  test('of any characters finds the call that says it', async () => {
    const { projectId } = await service.mintProject()
    let calls = 0
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), async (text) => {
        const content = text.toWellFormed().replaceAll('\0', '')
        const id = `c${calls++}`
        await putCalls(service.services, projectId, [{ id, ...said(content) }])
        const hasWords = wordsOf(content).some((word) => foldText(word.text) !== '')
        const { data } = await find(projectId, { text: content, limit: '200' })
        expect([content, data.some((row) => row.id === id)]).toEqual([content, hasWords])
        const found = data.find((row) => row.id === id)
        if (found) expect(found.match?.ranges.length).toBeGreaterThan(0)
        await service.services.calls.delete(projectId, id)
      }),
      runs(30),
    )
  })
})

describe('what was found', () => {
  async function matchOf(change: CallChange, text: string) {
    const projectId = await projectWith([{ id: 'a', ...change }])
    const [row] = (await find(projectId, { text })).data
    const match = row?.match
    if (!match) return null
    return { ...match, marked: match.ranges.map(([start, end]) => match.text.slice(start, end)) }
  }

  test('is the first turn with the most of the words, or the summary, in their forms', async () => {
    const change: CallChange = {
      summary: 'Refund for a late parcel',
      transcript: [
        { role: 'user', content: 'My parcel is late.' },
        { role: 'assistant', content: 'Parcels are often late; we refunded yours.' },
        { role: 'user', content: 'Late parcel, refund.' },
      ],
    }
    expect(await matchOf(change, 'late')).toMatchObject({
      where: 'user',
      text: 'My parcel is late.',
      marked: ['late'],
    })
    expect(await matchOf(change, 'refund parcel')).toMatchObject({
      where: 'assistant',
      text: 'Parcels are often late; we refunded yours.',
      marked: ['Parcels', 'refunded'],
    })
    expect(
      await matchOf({ summary: 'Only here', transcript: change.transcript ?? [] }, 'only'),
    ).toMatchObject({ where: 'summary', marked: ['Only'] })
    expect(await matchOf({ summary: 'one', ...said('two', 'three') }, 'one two three')).toMatchObject({
      where: 'user',
      text: 'two',
    })
  })

  test('is about 160 characters of a long turn, around the words', async () => {
    const filler = 'and so on '.repeat(500)
    const match = await matchOf(said(`${filler}the needle is in the haystack ${filler}`), 'needle haystack')
    expect(match?.marked).toEqual(['needle', 'haystack'])
    expect(match?.text).toMatch(/^…(on )?(and|so|on) .*the needle is in the haystack and.* (and|so|on)…$/)
    expect(match?.text.length).toBeLessThanOrEqual(162)
    expect(match?.text.length).toBeGreaterThan(120)
  })

  test.each([
    ['CRÈME brûlée', 'brulee creme', ['CRÈME', 'brûlée']],
    ['cafe\u0301 au lait', 'café', ['cafe\u0301']],
    ['请联系退款部门', '退款', ['退款']],
    ['请联系退款部门', '门', ['门']],
    ['请联系退款部门', '部', ['部门']],
    ['two ㎏ of it', 'kg', ['㎏']],
    ['请联系退款部门', '退款部', ['退款部']],
    ['call ﾃﾞｰﾀ now', 'データ', ['ﾃﾞｰﾀ']],
    ['ﬁne ½ cup', 'fine', ['ﬁne']],
    [`👋${'x'.repeat(30)} hi ${'👋'.repeat(300)}`, 'hi', ['hi']],
    [`${'长'.repeat(400)}退款${'长'.repeat(400)}`, '退款', ['退款']],
  ])('in %s by %s is marked to the letter', async (content, text, marked) => {
    const match = await matchOf(said(content), text)
    expect(match?.marked).toEqual(marked)
    expect(match?.text.isWellFormed()).toBe(true)
  })

  test('is looked for in the beginning of a call of any length, or in its summary', async () => {
    const filler = '👋 and so on '.repeat(100_000)
    const change = { ...said('the needle is here', filler, 'the haystack is there'), summary: 'A barn' }
    expect(await matchOf(change, 'needle')).toMatchObject({ where: 'user', text: 'the needle is here' })
    expect(await matchOf(change, 'barn')).toMatchObject({ where: 'summary', marked: ['barn'] })
    const projectId = await projectWith([{ id: 'a', ...change }])
    expect((await find(projectId, { text: 'haystack' })).data).toMatchObject([{ id: 'a', match: null }])
  })

  test.each([
    ['in one run', '\ufdfa'.repeat(60_000)],
    ['in many', `${'\ufdfa'.repeat(130)} `.repeat(460)],
  ])('is looked for near the word before, %s of signs that each stand for words', (_, content) => {
    const query = readWordQuery('صلى عليه وسلم')
    if (!query) throw new Error('The query has words')
    const indexOf = spyOn(String.prototype, 'indexOf')
    const match = findMatch(query, { summary: null, transcript: [{ role: 'user', content }] })
    const searched = indexOf.mock.contexts.reduce((sum: number, text) => sum + String(text).length, 0)
    indexOf.mockRestore()
    expect(match?.text.length).toBeLessThanOrEqual(162)
    expect(match?.ranges.length).toBeGreaterThan(0)
    // Each sign stands for four words, and each word is looked for in some 70 characters.
    expect(searched).toBeLessThan(content.length * 4 * 100)
  })

  test('is found without the main thread reading long calls', async () => {
    const filler = 'and so on '.repeat(3_000)
    const projectId = await projectWith([{ id: 'a', ...said('the needle is here', filler) }])
    const parse = spyOn(JSON, 'parse')
    const { data } = await find(projectId, { text: 'needle' })
    const parsed = parse.mock.calls.filter(([text]) => String(text).includes('needle'))
    parse.mockRestore()
    expect(data).toMatchObject([{ match: { text: 'the needle is here' } }])
    expect(parsed).toEqual([])
  })

  test('makes a page shorter when the calls are long, and the next goes on', async () => {
    const turns = Array.from({ length: 2_000 }, (_, n) => `turn ${n} of a long conversation about a needle`)
    const projectId = await projectWith(
      Array.from({ length: 12 }, (_, n) => ({ id: `c${n}`, createdAt: at(n), ...said(...turns) })),
    )
    const first = await find(projectId, { text: 'needle' })
    expect(first.data.length).toBeLessThan(12)
    expect(first.data.length).toBeGreaterThan(0)
    expect(first.total).toBe(12)
    const ids = (await walk(projectId, { text: 'needle' })).map(({ id }) => id)
    expect(ids).toEqual(Array.from({ length: 12 }, (_, n) => `c${11 - n}`))
  })
})

describe('the facets', () => {
  test('are what calls were evaluated as and ended by, from where and by whom, the most frequent first', async () => {
    const projectId = await projectWith([
      ...Array.from({ length: 3 }, (_, n) => ({ id: `a${n}`, evaluation: 'success', endedReason: 'x' })),
      ...Array.from({ length: 5 }, (_, n) => ({ id: `b${n}`, evaluation: 'fail', endedReason: null })),
      {
        id: 'c',
        evaluation: 'none of ours',
        endedReason: 'y',
        details: { agent: { id: 'ada', version: '7' } },
      },
    ])
    await service.services.ingest.putEvent(projectId, 'd', {}, 'vapi')
    const reviewer = { person: { name: 'Ada' }, by: { actor: { id: 'p', name: 'Ada' }, address: null } }
    await service.services.reviews.changeMany(
      projectId,
      ['a0', 'a1'],
      { addLabels: ['"refund", late'], assignee: 'Ada' },
      reviewer,
    )
    await projectWith([{ id: 'other', evaluation: 'other', endedReason: 'other' }])
    expect(await service.services.calls.facets(projectId)).toEqual({
      evaluation: [
        { value: 'fail', calls: 5 },
        { value: 'success', calls: 3 },
        { value: 'none of ours', calls: 1 },
      ],
      endedReason: [
        { value: 'x', calls: 3 },
        { value: 'y', calls: 1 },
      ],
      source: [{ value: 'vapi', calls: 1 }],
      agentId: [{ value: 'ada', calls: 1 }],
      agentVersion: [{ value: '7', calls: 1 }],
      label: [{ value: '"refund", late', calls: 2 }],
      assignee: [{ value: 'Ada', calls: 2 }],
    })
  })

  test('are fifty at most', async () => {
    const projectId = await projectWith(
      Array.from({ length: 120 }, (_, n) => ({ id: `${n}`, endedReason: `reason ${n % 60}` })),
    )
    const { evaluation, endedReason } = await service.services.calls.facets(projectId)
    expect(evaluation).toEqual([])
    expect(endedReason).toHaveLength(50)
  })
})

function pick(values: readonly string[], random: () => number): string {
  return values[Math.floor(random() * values.length)] ?? ''
}

function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 0) / 2 ** 32
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
