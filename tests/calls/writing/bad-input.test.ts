import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Call } from '../../../src/calls/schemas.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { expectProblem, type Problem } from '../../support/problem.ts'
import { startService } from '../../support/service.ts'

const service = await startService()
const project = await service.mintProject()

const time = '2026-01-31T09:30:00.000Z'
const turn = { role: 'user', content: 'Hi' }

/** One more than 64 KiB has room for. */
const tooLong = 'ä'.repeat(32_769)

/** Every row that an ingest can write, counted. */
async function rows(): Promise<unknown> {
  const counts = ['calls', 'call_documents', 'call_details', 'erasures'].map(
    (table) => sql`(select count(*) from ${sql.raw(table)})`,
  )
  const [row] = await service.services.database.read.all<{ rows: string }>(
    sql`select json_array(${sql.join(counts, sql`, `)}, (select sum(change_seq) from projects)) as rows`,
  )
  return row?.rows
}

function put(body: string, id = 'bad'): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return project.fetch(`/ingest/calls/${id}`, { method: 'PUT', body, headers })
}

/** Checks that the body is refused, naming these fields and no others, and that nothing is written. */
async function expectRefused(body: unknown, fields: string[]): Promise<Problem> {
  const before = await rows()
  const problem = await expectProblem(await put(JSON.stringify(body)), 'invalid_request')
  expect(problem.errors?.map(({ field }) => field).sort()).toEqual(fields.toSorted())
  expect(await rows()).toEqual(before)
  return problem
}

const wrong = {
  text: [1, true, [], {}, ['x']],
  number: ['1', '', true, [], {}, -1, -0.001, -1e308],
  boolean: ['true', '', 0, 1, [], {}],
  object: ['{}', '', 1, true, [], [{}]],
  array: ['[]', '', 1, true, {}],
  time: [
    0,
    true,
    [],
    {},
    '',
    ' ',
    'now',
    '2026-01-31',
    '2026-01-31T09:30:00',
    '1769851800000',
    `${time} `,
    ` ${time}`,
  ],
}

describe('a value that a field cannot have is 400 and the field is named', () => {
  const cases: [field: string, values: unknown[]][] = [
    ['id', [...wrong.text, null, 'other', '', 'BAD']],
    ['status', [...wrong.text, null, '', ' ', 'Live', 'ended', 'completed ']],
    ['duration', [...wrong.number, null]],
    ['summary', [...wrong.text, tooLong]],
    ['evaluation', [...wrong.text, tooLong]],
    ['endedReason', [...wrong.text, tooLong]],
    ['callerNumber', [...wrong.text, tooLong]],
    ['calledNumber', [...wrong.text, tooLong]],
    ['isEngaged', [...wrong.boolean, null]],
    ['callAnalysis', wrong.object],
    ['transcript', [...wrong.array, null]],
    [
      'appendTranscript',
      [...wrong.object, null].filter((value) => !Array.isArray(value) || value.length === 0),
    ],
    ['createdAt', [...wrong.time, null]],
    ['updatedAt', [...wrong.time, null]],
    ['occurredAt', wrong.time],
    ['metadata', [...wrong.object, { a: 'x'.repeat(65_530) }]],
  ]

  test.each(cases)('%s', async (field, values) => {
    for (const value of values) await expectRefused({ [field]: value }, [field])
  })

  test.each([
    [[1], ['transcript.0']],
    [[null], ['transcript.0']],
    [[turn, 'Hi'], ['transcript.1']],
    [[{}], ['transcript.0.role', 'transcript.0.content']],
    [[{ role: 'user' }], ['transcript.0.content']],
    [[{ content: 'Hi' }], ['transcript.0.role']],
    [[{ role: 'system', content: 'Hi' }], ['transcript.0.role']],
    [
      [turn, { role: null, content: null }],
      ['transcript.1.role', 'transcript.1.content'],
    ],
    [[{ role: 'User', content: 1 }], ['transcript.0.role', 'transcript.0.content']],
    [[{ role: 'user', content: ['Hi'] }], ['transcript.0.content']],
  ])('transcript %j', async (transcript, fields) => {
    await expectRefused({ transcript }, fields)
    const inAppend = fields.map((field) => field.replace('transcript', 'appendTranscript.turns'))
    await expectRefused({ appendTranscript: { at: 0, turns: transcript } }, inAppend)
  })

  test.each([
    [{}, ['at', 'turns']],
    [{ at: 0 }, ['turns']],
    [{ turns: [] }, ['at']],
    [{ at: -1, turns: [] }, ['at']],
    [{ at: 0.5, turns: [] }, ['at']],
    [{ at: '0', turns: [] }, ['at']],
    [{ at: null, turns: null }, ['at', 'turns']],
    [{ at: 0, turns: {} }, ['turns']],
  ])('appendTranscript %j', async (appendTranscript, fields) => {
    await expectRefused(
      { appendTranscript },
      fields.map((field) => `appendTranscript.${field}`),
    )
  })

  test('all of them at once are all named', async () => {
    const body = Object.fromEntries(cases.map(([field]) => [field, 7]))
    body.duration = -7
    await expectRefused(body, Object.keys(body))
  })

  test('a call that is there is left as it was', async () => {
    const stored = await (await put('{"summary":"kept","metadata":{"a":1}}', 'kept')).text()
    for (const body of [
      '{"summary":"lost","duration":-1}',
      '{"summary":"lost","createdAt":"2026-02-30T00:00:00Z"}',
    ])
      expect((await put(body, 'kept')).status).toBe(400)
    expect(await (await project.fetch('/v1/calls/kept')).text()).toBe(stored)
  })
})

describe('odd but good input comes back as it was', () => {
  test.each([
    '',
    ' ',
    '\u0001\u001f\u007f',
    '\u2028\u2029',
    '\ufeff',
    '\ufffd',
    'e\u0301é',
    '👩‍👩‍👧',
    "'; drop table calls;--",
  ])('text %j in every field of text', async (text) => {
    const fields = ['summary', 'evaluation', 'endedReason', 'callerNumber', 'calledNumber']
    const given = {
      ...Object.fromEntries(fields.map((field) => [field, text])),
      transcript: [{ ...turn, content: text }],
    }
    expect((await put(JSON.stringify(given), 'odd')).ok).toBe(true)
    const call: Call = await (await project.fetch('/v1/calls/odd')).json()
    expect(call).toMatchObject(given)
  })

  test('long text in the fields that are filtered by, cut in the middle of a character', async () => {
    const given = { evaluation: `${'x'.repeat(199)}📞${'y'.repeat(5_000)}`, callerNumber: '📞'.repeat(3_000) }
    expect((await put(JSON.stringify(given), 'long')).status).toBe(201)
    expect(await (await project.fetch('/v1/calls/long')).json()).toMatchObject(given)
  })

  test('numbers at the edges of duration', async () => {
    for (const [text, duration] of [
      ['0', 0],
      ['5e-324', 5e-324],
      ['1.7976931348623157e308', Number.MAX_VALUE],
      ['0.1', 0.1],
      ['9007199254740993', 2 ** 53],
      ['1e2', 100],
    ] as const) {
      const call: Call = await (await put(`{"duration":${text}}`, 'numbers')).json()
      expect(call.duration).toBe(duration)
    }
  })
})

test('whatever JSON is put, the answer is 2xx, 400 or 409, and what is refused is not there', async () => {
  const anyValue = fc.jsonValue({ maxDepth: 3 })
  const hint = (good: unknown[]) => fc.oneof(fc.constantFrom(...good), anyValue)
  const body = fc.record(
    {
      id: hint(['fuzz']),
      status: hint(['live', 'completed']),
      duration: hint([0, 1.5]),
      summary: hint([null, 'x']),
      isEngaged: hint([true]),
      callAnalysis: hint([null, {}]),
      transcript: hint([[], [turn]]),
      appendTranscript: hint([{ at: 0, turns: [turn] }]),
      createdAt: hint([time]),
      occurredAt: hint([time, null]),
      metadata: hint([null, { a: 1 }]),
      details: hint([{}, { agent: { id: 'a' }, costUsd: 1, timeline: [{ atSeconds: 0, kind: 'other' }] }]),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 5, arbitrary: body }, { weight: 1, arbitrary: anyValue }),
      async (value) => {
        const before = await rows()
        const answer = await put(JSON.stringify(value), 'fuzz')
        const text = await answer.text()
        expect([200, 201, 400, 409]).toContain(answer.status)
        if (answer.ok) expect(Object.keys(JSON.parse(text))).toHaveLength(13)
        else expect(await rows()).toEqual(before)
        if (answer.status === 400) expect(JSON.parse(text).errors.length).toBeGreaterThan(0)
      },
    ),
    runs(75),
  )
  expect(service.logs.filter(({ msg }) => msg === 'internal')).toEqual([])
})
