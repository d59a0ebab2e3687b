import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Call } from '../../../src/calls/schemas.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { expectProblem, type Problem } from '../../support/problem.ts'
import { startService, type TestProject, type TestService } from '../../support/service.ts'

let service: TestService
let project: TestProject
beforeAll(async () => {
  service = await startService()
  project = await service.mintProject()
})
afterAll(() => service.stop())

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

function put(
  body: string | Uint8Array<ArrayBuffer>,
  type = 'application/json',
  id = 'bad',
): Promise<Response> {
  return project.fetch(`/ingest/calls/${id}`, { method: 'PUT', body, headers: { 'content-type': type } })
}

/** Checks that the body is refused, naming these fields and no others, and that nothing is written. */
async function expectRefused(body: unknown, fields: string[]): Promise<Problem> {
  return await expectTextRefused(JSON.stringify(body), fields)
}

async function expectTextRefused(body: string | Uint8Array<ArrayBuffer>, fields: string[]): Promise<Problem> {
  const before = await rows()
  const problem = await expectProblem(await put(body), 'invalid_request', 'Invalid request')
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

  test('ten thousand of them are a list of at most fifty', async () => {
    const before = await rows()
    const body = JSON.stringify({ transcript: Array.from({ length: 10_000 }, () => ({ role: 5 })) })
    const problem = await expectProblem(await put(body), 'invalid_request', 'Invalid request')
    expect(problem.errors).toHaveLength(50)
    expect(await rows()).toEqual(before)
  })

  test('a call that is there is left as it was', async () => {
    const stored = await (
      await put('{"summary":"kept","metadata":{"a":1}}', 'application/json', 'kept')
    ).text()
    for (const body of [
      '{"summary":"lost","duration":-1}',
      '{"summary":"lost","createdAt":"2026-02-30T00:00:00Z"}',
    ]) {
      expect((await put(body, 'application/json', 'kept')).status).toBe(400)
    }
    expect(await (await project.fetch('/v1/calls/kept')).text()).toBe(stored)
  })
})

describe('a body that is no object', () => {
  test.each(['null', '[]', '[{}]', '"text"', '5', 'true', '-0'])('%s is 400', async (body) => {
    await expectTextRefused(body, ['body'])
  })

  test.each([
    '',
    ' ',
    '{',
    '{}}',
    '{"a":1,}',
    "{'a':1}",
    '{"a":NaN}',
    '{"a":01}',
    'undefined',
    '{"a":"\n"}',
    '\0',
  ])('%j is 400: it is not JSON', async (body) => {
    await expectTextRefused(body, ['body'])
  })

  test('of another type is 415, before it is looked at', async () => {
    const before = await rows()
    for (const type of [
      'text/plain',
      'application/xml',
      'application/jsonl',
      'multipart/form-data',
      'json',
    ]) {
      await expectProblem(await put('{}', type), 'unsupported_media_type', 'Unsupported media type')
    }
    expect(await rows()).toEqual(before)
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json;']) {
      expect((await put('{}', type, 'typed')).ok).toBe(true)
    }
  })
})

describe('text that could not be given back as it was is 400 and its field is named', () => {
  const places: [path: string, body: (text: string) => string][] = [
    ['summary', (text) => `{"summary":"${text}"}`],
    ['callAnalysis.a.0.b', (text) => `{"callAnalysis":{"a":[{"b":"x${text}y"}]}}`],
    [
      'transcript.1.content',
      (text) => `{"transcript":[{"role":"user","content":""},{"role":"user","content":"${text}"}]}`,
    ],
    ['metadata.m', (text) => `{"metadata":{"m":"${text}"}}`],
    ['unknown', (text) => `{"unknown":"${text}"}`],
  ]
  test.each(['\\u0000', '\\ud800', '\\udfff', '\\udc00\\ud800', 'a\\ud83dz'])('%s', async (text) => {
    for (const [path, body] of places) await expectTextRefused(body(text), [path])
    await expectTextRefused(`{"callAnalysis":{"k${text}":1}}`, [`callAnalysis.k${shown(text)}`])
  })

  test('bytes that are not UTF-8', async () => {
    for (const bytes of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
      for (const [path, body] of places) {
        const [before = '', after = ''] = body('@').split('@')
        const whole = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
        await expectTextRefused(new Uint8Array(whole), [path])
      }
    }
  })

  test('numbers beyond a double, nesting beyond 100 levels', async () => {
    await expectTextRefused('{"callAnalysis":{"a":1e999}}', ['callAnalysis.a'])
    await expectTextRefused('{"duration":1e999}', ['duration'])
    const deep = `${'['.repeat(101)}${']'.repeat(101)}`
    const before = await rows()
    expect((await put(`{"callAnalysis":{"a":${deep}}}`)).status).toBe(400)
    expect(await rows()).toEqual(before)
  })

  /** What the error shows of a key: no field name may itself be unfit for JSON. */
  function shown(text: string): string {
    const raw: string = JSON.parse(`"${text}"`)
    return raw.toWellFormed().replaceAll('\0', '\ufffd')
  }
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
    expect((await put(JSON.stringify(given), 'application/json', 'odd')).ok).toBe(true)
    const call: Call = await (await project.fetch('/v1/calls/odd')).json()
    expect(call).toMatchObject(given)
  })

  test('long text in the fields that are filtered by, cut in the middle of a character', async () => {
    const given = { evaluation: `${'x'.repeat(199)}📞${'y'.repeat(5_000)}`, callerNumber: '📞'.repeat(3_000) }
    expect((await put(JSON.stringify(given), 'application/json', 'long')).status).toBe(201)
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
      const call: Call = await (await put(`{"duration":${text}}`, 'application/json', 'numbers')).json()
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
        const answer = await put(JSON.stringify(value), 'application/json', 'fuzz')
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
