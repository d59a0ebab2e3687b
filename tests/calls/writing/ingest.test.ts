import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Call, CallChange, Turn } from '../../../src/calls/schemas.ts'
import { openCommand } from '../../support/command.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { expectProblem } from '../../support/problem.ts'
import { head, opened } from '../../support/raw-http.ts'
import { startService, type TestProject, type TestService } from '../../support/service.ts'
import { ofFilesOnly, testMode } from '../../support/test-mode.ts'

const service = await startService()

const fields = [
  'id',
  'status',
  'duration',
  'summary',
  'evaluation',
  'endedReason',
  'callerNumber',
  'calledNumber',
  'isEngaged',
  'callAnalysis',
  'transcript',
  'createdAt',
  'updatedAt',
]

function put(project: TestProject, id: string, body: unknown): Promise<Response> {
  return project.send('PUT', `/ingest/calls/${id}`, body)
}

function putText(
  project: TestProject,
  id: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return project.fetch(`/ingest/calls/${id}`, { method: 'PUT', body, headers })
}

async function putCall(project: TestProject, id: string, change: CallChange, status?: number): Promise<Call> {
  const answer = await put(project, id, change)
  if (status !== undefined) expect(answer.status).toBe(status)
  expect(answer.ok).toBe(true)
  return await answer.json()
}

function putMinimal(
  project: TestProject,
  id: string,
  change: CallChange,
  prefer = 'return=minimal',
): Promise<Response> {
  const headers = { 'content-type': 'application/json', prefer }
  return project.fetch(`/ingest/calls/${id}`, { method: 'PUT', body: JSON.stringify(change), headers })
}

async function getCall(project: TestProject, id: string): Promise<Call> {
  const answer = await project.fetch(`/v1/calls/${id}`)
  expect(answer.status).toBe(200)
  return await answer.json()
}

const numbered = (count: number): Turn[] =>
  Array.from({ length: count }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `turn ${i}` }))

async function rowsOf(project: TestProject): Promise<number> {
  const [row] = await service.services.database.read.all<{ n: number }>(
    sql`select count(*) as n from calls where project_id = ${project.projectId}`,
  )
  return row?.n ?? -1
}

describe('PUT /ingest/calls/:id', () => {
  test('creates with 201, merges with 200, and answers what GET then answers, byte for byte', async () => {
    const project = await service.mintProject()
    const created = await put(project, 'call-1', {})
    expect([created.status, created.headers.get('location')]).toEqual([201, '/v1/calls/call-1'])
    expect(created.headers.get('content-type')).toBe('application/json')
    expect(Object.keys(JSON.parse(await created.text()))).toEqual(fields)

    const merged = await put(project, 'call-1', { summary: 'Moved the booking', duration: 12.5 })
    expect([merged.status, merged.headers.get('location')]).toEqual([200, null])
    const answer = await merged.text()
    expect(Object.keys(JSON.parse(answer))).toEqual(fields)
    expect(await (await project.fetch('/v1/calls/call-1')).text()).toBe(answer)
  })

  test('a call moves to its place in the list once a request names its start, also one that only appends', async () => {
    const project = await service.mintProject()
    await putCall(project, 'first', { transcript: numbered(1) })
    await putCall(project, 'second', { createdAt: '2026-01-31T09:30:00Z' })
    const list = async () => {
      const page: { data: Call[] } = await (await project.fetch('/v1/calls')).json()
      return page.data.map(({ id, createdAt }) => [id, createdAt])
    }
    expect((await list()).map(([id]) => id)).toEqual(['first', 'second'])
    const appendTranscript = { at: 1, turns: numbered(2).slice(1) }
    await putCall(project, 'first', { appendTranscript, createdAt: '2026-01-31T09:29:00Z' })
    expect(await list()).toEqual([
      ['second', '2026-01-31T09:30:00.000Z'],
      ['first', '2026-01-31T09:29:00.000Z'],
    ])
    expect(await putCall(project, 'first', { createdAt: '2026-01-31T09:00:00Z' })).toMatchObject({
      createdAt: '2026-01-31T09:29:00.000Z',
      transcript: numbered(2),
    })
  })

  test('a retry is 200, answers the same and changes nothing', async () => {
    const project = await service.mintProject()
    const change = { summary: 'x', transcript: numbered(3), metadata: { a: 1 }, callAnalysis: { b: [1, 2] } }
    const first = await (await put(project, 'call-1', change)).text()
    const before = await changeSeqOf(project)
    await Bun.sleep(5)
    const again = await put(project, 'call-1', change)
    expect(again.status).toBe(200)
    expect(await again.text()).toBe(first)
    expect(await changeSeqOf(project)).toBe(before)
  })

  test('an export comes back as it was, updatedAt included', async () => {
    const [from, to] = [await service.mintProject(), await service.mintProject()]
    const exported = await putCall(from, 'call-1', {
      status: 'completed',
      duration: 61.25,
      summary: 'S',
      evaluation: 'success',
      endedReason: 'customer-ended-call',
      callerNumber: '+1',
      calledNumber: '+2',
      isEngaged: true,
      callAnalysis: { a: 1 },
      transcript: numbered(4),
      createdAt: '2026-01-31T09:30:00Z',
      updatedAt: '2026-01-31T09:31:01+00:00',
    })
    expect(await putCall(to, 'call-1', exported, 201)).toEqual(exported)
    expect(exported.updatedAt).toBe('2026-01-31T09:31:01.000Z')
  })

  test('null clears each of the nullable fields', async () => {
    const project = await service.mintProject()
    const nullable = ['summary', 'evaluation', 'endedReason', 'callerNumber', 'calledNumber']
    const full = Object.fromEntries(nullable.map((field) => [field, 'x']))
    expect(await putCall(project, 'call-1', { ...full, callAnalysis: { a: 1 } })).toMatchObject(full)
    const nulls = Object.fromEntries([...nullable, 'callAnalysis'].map((field) => [field, null]))
    expect(await putCall(project, 'call-1', nulls)).toMatchObject(nulls)
    expect(await getCall(project, 'call-1')).toMatchObject(nulls)
  })

  test('unknown fields are ignored and never shown, at any level that is ours', async () => {
    const project = await service.mintProject()
    const body = {
      projectId: 99,
      seq: 5,
      deleted: true,
      transcript: [{ role: 'user', content: 'Hi', secondsFromStart: 3 }],
      appendTranscrpt: {},
    }
    expect((await put(project, 'call-1', body)).status).toBe(201)
    const call = await getCall(project, 'call-1')
    expect(Object.keys(call)).toEqual(fields)
    expect(call.transcript).toStrictEqual([{ role: 'user', content: 'Hi' }])
    const appended = { at: 1, turns: [{ role: 'assistant', content: 'Hello', extra: 1 }], more: 2 }
    await put(project, 'call-1', { appendTranscript: appended })
    expect((await getCall(project, 'call-1')).transcript[1]).toStrictEqual({
      role: 'assistant',
      content: 'Hello',
    })
  })

  test('metadata is stored and shown nowhere', async () => {
    const project = await service.mintProject()
    const marker = 'metadata-marker-1'
    const texts: string[] = []
    texts.push(await (await put(project, 'call-1', { metadata: { marker, deep: [{ marker }] } })).text())
    texts.push(await (await put(project, 'call-1', { summary: 'x' })).text())
    texts.push(await (await project.fetch('/v1/calls/call-1')).text())
    texts.push(await (await project.fetch('/v1/calls')).text())
    expect(texts.join()).not.toContain(marker)
    expect(texts.join()).not.toContain('metadata')
    expect(await metadataOf(project)).toEqual([JSON.stringify({ marker, deep: [{ marker }] })])
    await put(project, 'call-1', { metadata: null })
    expect(await metadataOf(project)).toEqual([])
  })
})

describe('Prefer: return=minimal', () => {
  const times = { createdAt: '2026-01-31T09:30:00.000Z', updatedAt: '2026-01-31T09:31:00.000Z' }

  test('is 201 for a new call, then 204, without a body, and stores what the same requests store without it', async () => {
    const [project, other] = [await service.mintProject(), await service.mintProject()]
    const changes: [CallChange, number][] = [
      [{ ...times, transcript: numbered(2) }, 201],
      [
        { appendTranscript: { at: 2, turns: numbered(4).slice(2) }, updatedAt: '2026-01-31T09:32:00.000Z' },
        204,
      ],
      [{ summary: 'Moved the booking', updatedAt: '2026-01-31T09:33:00.000Z' }, 204],
      [{ status: 'completed', metadata: { a: 1 }, updatedAt: '2026-01-31T09:34:00.000Z' }, 204],
    ]
    for (const [change, status] of changes) {
      const answer = await putMinimal(project, 'a', change)
      const { headers } = answer
      expect([answer.status, await answer.text(), headers.get('content-type')]).toEqual([status, '', null])
      expect(headers.get('preference-applied')).toBe('return=minimal')
      expect(headers.get('location')).toBe(status === 201 ? '/v1/calls/a' : null)
      await putCall(other, 'a', change)
      const read = async (one: TestProject) => await (await one.fetch('/v1/calls/a')).text()
      expect(await read(project)).toBe(await read(other))
    }
    const before = await changeSeqOf(project)
    const { updatedAt: _, ...turns } = changes[1]?.[0] ?? {}
    for (const change of [changes[3]?.[0] ?? {}, turns])
      expect((await putMinimal(project, 'a', change)).status).toBe(204)
    expect(await changeSeqOf(project)).toBe(before)
  })

  test('is read as RFC 7240 writes it, and anything else is answered with the call', async () => {
    const project = await service.mintProject()
    await putCall(project, 'a', {})
    const statusOf = async (prefer: string) => (await putMinimal(project, 'a', {}, prefer)).status
    for (const prefer of [
      'handling=strict, Return=minimal',
      'return = "minimal"; x=1',
      'wait=1,return=minimal',
    ])
      expect([prefer, await statusOf(prefer)]).toEqual([prefer, 204])
    for (const prefer of [
      'return=representation',
      'return=minimalist',
      'x=return=minimal',
      'handling=strict',
    ])
      expect([prefer, await statusOf(prefer)]).toEqual([prefer, 200])
    const strict = await putMinimal(
      project,
      'a',
      { sumary: 'x' } as CallChange,
      'return=minimal, handling=strict',
    )
    await expectProblem(strict, 'invalid_request')
  })

  test('changes no error: 400, 409 and 410 are told as always', async () => {
    const project = await service.mintProject()
    await putCall(project, 'a', { transcript: numbered(2) })
    const gap = await putMinimal(project, 'a', { appendTranscript: { at: 3, turns: numbered(1) } })
    expect(gap.headers.get('preference-applied')).toBe(null)
    await expectProblem(gap, 'transcript_gap', 'Transcript does not continue')
    await expectProblem(await putMinimal(project, 'a', { duration: -1 }), 'invalid_request')
    await project.fetch('/v1/calls/a', { method: 'DELETE' })
    const gone = await putMinimal(project, 'a', { appendTranscript: { at: 2, turns: numbered(1) } })
    await expectProblem(gone, 'call_was_deleted', 'Call was deleted')
  })
})

describe('ids', () => {
  const idMessage = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, and neither . nor ..'

  test.each(['.', '..'])(
    '%s is none: in a path it means another one, so the call could not be reached',
    async (id) => {
      const { projectId } = await service.mintProject()
      await expect(service.services.ingest.put(projectId, id, {})).rejects.toThrow(idMessage)
    },
  )

  test('all that is wrong with a request is said at once', async () => {
    const project = await service.mintProject()
    const sent = {
      duration: -1,
      summary: 5,
      createdAt: '2026-02-30T00:00:00Z',
      metadata: { a: 'x'.repeat(65_536) },
    }
    const problem = await expectProblem(await put(project, 'call-1', sent), 'invalid_request')
    expect(problem.errors?.map(({ field }) => field).sort()).toEqual(Object.keys(sent).sort())
  })

  test('of much that is wrong as much is said as can be read, whatever comes last', async () => {
    const project = await service.mintProject()
    const transcript = Array.from({ length: 30 }, () => ({}))
    for (const createdAt of [['2026-01-31T09:30:00.000Z'], 5, '2026-02-30T00:00:00Z']) {
      const answer = await put(project, 'call-1', { transcript, createdAt })
      const problem = await expectProblem(answer, 'invalid_request')
      expect(problem.errors).toHaveLength(50)
    }
  })

  test('an id in the body must be the one in the path', async () => {
    const project = await service.mintProject()
    const problem = await expectProblem(await put(project, 'call-1', { id: 'call-2' }), 'invalid_request')
    expect(problem.errors).toEqual([{ field: 'id', message: 'must equal the id in the path' }])
  })
})

describe('a transcript', () => {
  test.each([0, 1, 10_000])('of %i turns is kept', async (count) => {
    const project = await service.mintProject()
    await putCall(project, 'call-1', { transcript: numbered(count) }, 201)
    expect((await getCall(project, 'call-1')).transcript).toEqual(numbered(count))
  })

  test('of 10,001 turns is 400, whole or appended, with one entry for it', async () => {
    const project = await service.mintProject()
    const turns = numbered(10_001)
    for (const [body, field] of [
      [{ transcript: turns }, 'transcript'],
      [{ transcript: turns.map(() => 1) }, 'transcript'],
      [{ appendTranscript: { at: 0, turns } }, 'appendTranscript.turns'],
    ] as const) {
      const problem = await expectProblem(await put(project, 'call-1', body), 'invalid_request')
      expect(problem.errors).toEqual([{ field, message: 'must have at most 10000 entries' }])
    }
    expect(await rowsOf(project)).toBe(0)
    await putCall(project, 'call-1', { transcript: numbered(10_000) })
    const more = { at: 10_000, turns: numbered(1) }
    expect((await put(project, 'call-1', { appendTranscript: more })).status).toBe(400)
  })

  test('with a gap or another content is 409, and nothing of the request is written', async () => {
    const project = await service.mintProject()
    await putCall(project, 'call-1', { transcript: numbered(2) })
    for (const appendTranscript of [
      { at: 3, turns: numbered(1) },
      { at: 1, turns: [{ role: 'assistant', content: 'something else' }] },
    ]) {
      const answer = await put(project, 'call-1', { summary: 'not written', appendTranscript })
      await expectProblem(answer, 'transcript_gap', 'Transcript does not continue')
    }
    expect(await getCall(project, 'call-1')).toMatchObject({ summary: null, transcript: numbered(2) })
    const unknown = await put(project, 'call-2', { appendTranscript: { at: 1, turns: numbered(1) } })
    await expectProblem(unknown, 'transcript_gap', 'Transcript does not continue')
    expect(await rowsOf(project)).toBe(1)
  })
})

describe('a deleted id', () => {
  test('takes no more of what is wrong than any other: 400 before 410', async () => {
    const project = await service.mintProject()
    await put(project, 'call-1', {})
    await project.fetch('/v1/calls/call-1', { method: 'DELETE' })
    const turns = [{ role: 'user', content: 'hi' }]
    const body = { transcript: turns, appendTranscript: { at: 0, turns } }
    await expectProblem(await put(project, 'call-1', body), 'invalid_request')
  })

  test('stays deleted: every PUT is 410 and writes nothing, metadata included', async () => {
    const project = await service.mintProject()
    await putCall(project, 'call-1', { summary: 'x', metadata: { a: 1 } })
    expect((await project.fetch('/v1/calls/call-1', { method: 'DELETE' })).status).toBe(200)
    for (const body of [{}, { metadata: { late: 1 } }, { appendTranscript: { at: 0, turns: numbered(1) } }])
      await expectProblem(await put(project, 'call-1', body), 'call_was_deleted', 'Call was deleted')
    expect(await rowsOf(project)).toBe(0)
    expect(await metadataOf(project)).toEqual([])
  })

  test('that never was a call can be used', async () => {
    const project = await service.mintProject()
    expect((await project.fetch('/v1/calls/call-1', { method: 'DELETE' })).status).toBe(404)
    await putCall(project, 'call-1', {}, 201)
  })
})

describe('callAnalysis comes back as the same JSON value', () => {
  async function roundTrip(project: TestProject, text: string): Promise<unknown> {
    const answer = await putText(project, 'call-1', `{"callAnalysis":${text}}`)
    expect(answer.ok).toBe(true)
    const given: Call = await answer.json()
    const read = await getCall(project, 'call-1')
    expect(read.callAnalysis).toStrictEqual(given.callAnalysis)
    const page: { data: Call[] } = await (await project.fetch('/v1/calls')).json()
    expect(page.data[0]?.callAnalysis).toStrictEqual(given.callAnalysis)
    return read.callAnalysis
  }

  test.each([
    ['keys of Object.prototype', '{"__proto__":{"a":1},"constructor":{"prototype":2},"toString":3,"then":4}'],
    ['numeric-like and odd keys', '{"1":1,"0":0,"-1":2,"01":3,"1e3":4,"":{"":[""]}," ":5,"a.b":6,"a/b~c":7}'],
    ['numbers', '[1e308,5e-324,-1.7976931348623157e308,0.1,1e21,123456789012345680000,9007199254740991]'],
    ['negative zeros', '[-0,-0.0,{"a":-0e5,"b":[0,-0]},-1e-400]'],
    ['escapes', '"\\u0001\\u001f\\u007f\\u0085\\u2028\\u2029\\ufeff\\ufffe\\uffff\\"\\\\\\/\\b\\f\\n\\r\\t"'],
    ['literals', '[true,false,null,[],{},"",0]'],
    [
      'text that looks like SQL, JSON and paths',
      '["\'; drop table calls; --","$.a","{\\"a\\":1}","%00","\\\\u0000"]',
    ],
  ])('with %s', async (_, text) => {
    const project = await service.mintProject()
    expect(await roundTrip(project, `{"value":${text}}`)).toStrictEqual(JSON.parse(`{"value":${text}}`))
  })

  test('a number beyond 2^53 is the nearest double', async () => {
    const project = await service.mintProject()
    expect(await roundTrip(project, '{"a":9007199254740993}')).toStrictEqual({ a: 2 ** 53 })
  })

  test('with characters of every plane, in values and in keys', async () => {
    const project = await service.mintProject()
    const characters = Array.from({ length: 17 }, (_, plane) => {
      const last = plane * 0x10000 + 0xfffd
      return String.fromCodePoint(plane * 0x10000 + 0xe123, last, last - 2)
    })
    const value = Object.fromEntries(characters.map((text) => [`k${text}`, [text, `${text}é\u0301`]]))
    expect(await roundTrip(project, JSON.stringify(value))).toStrictEqual(value)
    const everything: string[] = []
    for (let code = 1; code <= 0xffff; code++) {
      if (code < 0xd800 || code > 0xdfff) everything.push(String.fromCharCode(code))
    }
    const all = { text: everything.join('') }
    expect(await roundTrip(project, JSON.stringify(all))).toStrictEqual(all)
  })

  test('whatever it is', async () => {
    const project = await service.mintProject()
    const wellFormed = fc
      .string({ unit: 'binary' })
      .filter((text) => text.isWellFormed() && !text.includes('\0'))
    const value = fc.dictionary(
      wellFormed,
      fc.letrec((tie) => ({
        any: fc.oneof(
          { depthSize: 'medium' },
          fc.constantFrom(null, true, false, -0, 1e308, 5e-324),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          wellFormed,
          fc.array(tie('any')),
          fc.dictionary(wellFormed, tie('any')),
        ),
      })).any,
    )
    await fc.assert(
      fc.asyncProperty(value, async (analysis) => {
        const text = signedJson(analysis)
        expect(await roundTrip(project, text)).toStrictEqual(JSON.parse(text))
      }),
      runs(40),
    )
  })

  test('in UTF-8 as in escapes', async () => {
    const project = await service.mintProject()
    const escaped = await roundTrip(project, '{"\\ud83d\\udcde":"\\u00e9\\u20ac"}')
    expect(escaped).toStrictEqual({ '📞': 'é€' })
    expect(await roundTrip(project, '{"📞":"é€"}')).toStrictEqual({ '📞': 'é€' })
  })
})

/** JSON with the sign of -0, which JSON.stringify drops. */
function signedJson(value: unknown): string {
  if (Object.is(value, -0)) return '-0'
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(signedJson).join()}]`
  return `{${Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${signedJson(member)}`)}}`
}

describe.skipIf(ofFilesOnly)('a large body', () => {
  const bytesMax = 2 ** 25

  test('of exactly the limit is taken and read back equal', async () => {
    const project = await service.mintProject()
    const callAnalysis = { text: 's'.repeat(2_000_000) }
    const change = { callAnalysis, transcript: [{ role: 'user', content: 'é"\\\n☎📞'.repeat(400_000) }] }
    const json = JSON.stringify(change)
    const body = json + ' '.repeat(bytesMax - Buffer.byteLength(json))
    expect(Buffer.byteLength(body)).toBe(bytesMax)
    const answer = await putText(project, 'call-1', body)
    expect(answer.status).toBe(201)
    await answer.arrayBuffer()
    const call = await getCall(project, 'call-1')
    expect(call.callAnalysis?.text === callAnalysis.text).toBe(true)
    expect(call.transcript[0]?.content === change.transcript[0]?.content).toBe(true)
    const page: { data: Call[] } = await (await project.fetch('/v1/calls')).json()
    expect(page.data[0]?.callAnalysis?.text === callAnalysis.text).toBe(true)
  })
})

describe('at once', () => {
  function statuses(answers: Response[]): Record<number, number> {
    const counts: Record<number, number> = {}
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
    return counts
  }

  test('50 merges of one new call create it once and lose nothing', async () => {
    const project = await service.mintProject()
    const textFields = ['summary', 'evaluation', 'endedReason', 'callerNumber', 'calledNumber'] as const
    const changes = Array.from({ length: 50 }, (_, i): CallChange => {
      const field = textFields[i]
      return field ? { [field]: `from ${i}` } : { metadata: { i } }
    })
    const answers = await Promise.all(changes.map((change) => put(project, 'call-1', change)))
    expect(statuses(answers)).toEqual({ 200: 49, 201: 1 })
    const call = await getCall(project, 'call-1')
    for (const [i, field] of textFields.entries()) expect(call[field]).toBe(`from ${i}`)
  })

  test('turns that arrive while the call is being created are appended to it', async () => {
    const { projectId } = await service.mintProject()
    const { ingest } = service.services
    const transcript: Turn[] = [{ role: 'user', content: 'Hello' }]
    const turns: Turn[] = [{ role: 'assistant', content: 'Good morning' }]
    const [created, appended] = await Promise.all([
      ingest.put(projectId, 'new', { transcript }),
      ingest.put(projectId, 'new', { endedReason: 'done', appendTranscript: { at: 1, turns } }),
    ])
    expect([created, appended].map(({ isNew }) => isNew)).toEqual([true, false])
    expect(JSON.parse(String(appended.document))).toMatchObject({ transcript: [...transcript, ...turns] })
  })

  test('many appends of one turn each, retried on 409, give the whole transcript', async () => {
    const project = await service.mintProject()
    await putCall(project, 'call-1', {})
    // Requests grow with the square.
    const whole = numbered(testMode === 'file' ? 100 : 20)
    let open = whole.map((_, i) => i)
    for (let round = 0; open.length > 0 && round < whole.length; round++) {
      const answers = await Promise.all(
        open.map((i) =>
          put(project, 'call-1', { appendTranscript: { at: i, turns: whole.slice(i, i + 1) } }),
        ),
      )
      expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
      open = open.filter((_, position) => answers[position]?.status === 409)
    }
    expect((await getCall(project, 'call-1')).transcript).toEqual(whole)
  })

  test('of two that append different turns at one place, one wins and the other is told', async () => {
    const project = await service.mintProject()
    await putCall(project, 'call-1', {})
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        const turns = [{ role: 'user', content: `version ${i}` }]
        return put(project, 'call-1', { appendTranscript: { at: 0, turns } })
      }),
    )
    expect(statuses(answers)).toEqual({ 200: 1, 409: 19 })
    const won = answers.findIndex(({ status }) => status === 200)
    expect((await getCall(project, 'call-1')).transcript[0]?.content).toBe(`version ${won}`)
  })

  test('PUT and DELETE of one call end in a deleted call', async () => {
    const project = await service.mintProject()
    for (let round = 0; round < 10; round++) {
      const id = `call-${round}`
      await putCall(project, id, {})
      const requests = Array.from({ length: 12 }, (_, i) =>
        i === 5
          ? project.fetch(`/v1/calls/${id}`, { method: 'DELETE' })
          : put(project, id, { duration: i + 1 }),
      )
      const answers = await Promise.all(requests)
      expect(answers[5]?.status).toBe(200)
      expect(answers.filter(({ status }) => status !== 200 && status !== 410)).toEqual([])
      expect((await project.fetch(`/v1/calls/${id}`)).status).toBe(404)
      expect((await put(project, id, {})).status).toBe(410)
    }
    expect(await rowsOf(project)).toBe(0)
  })

  test('ten deletions of one call: one is answered, nine find nothing', async () => {
    const project = await service.mintProject()
    await putCall(project, 'call-1', {})
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => project.fetch('/v1/calls/call-1', { method: 'DELETE' })),
    )
    expect(statuses(answers)).toEqual({ 200: 1, 404: 9 })
  })

  test('many calls in one go answer each for itself', async () => {
    const { projectId } = await service.mintProject()
    const { ingest } = service.services
    const results = await ingest.putAll(projectId, [
      { id: 'a', change: { transcript: numbered(1) } },
      { id: 'bad id', change: {} },
      { id: 'a', change: { appendTranscript: { at: 1, turns: numbered(2).slice(1) } } },
      { id: 'b', change: { appendTranscript: { at: 1, turns: [] } } },
      { id: 'a', change: { appendTranscript: { at: 9, turns: [] } } },
      { id: 'c', change: { createdAt: '2026-02-30T00:00:00Z' } },
      { id: 'a', change: { summary: 'last' } },
    ])
    const told = results.map((result) => (result instanceof Error ? result.code : result.isNew))
    expect(told).toEqual([
      true,
      'invalid_request',
      false,
      'transcript_gap',
      'transcript_gap',
      'invalid_request',
      false,
    ])
    const { document } = await service.services.calls.get(projectId, 'a')
    const call: Call = JSON.parse(Buffer.from(document).toString())
    expect(call).toMatchObject({ transcript: numbered(2), summary: 'last' })
  })

  test('two processes that write one call lose no update', async () => {
    const project = await service.mintProject()
    const command = await openCommand(service.dataDir)
    try {
      const whole = numbered(40)
      const append = async (write: (change: CallChange) => Promise<unknown>, parity: number) => {
        for (let i = parity; i < whole.length; ) {
          const appendTranscript = { at: i, turns: whole.slice(i, i + 1) }
          const isWritten = await write({ appendTranscript }).then(
            () => true,
            () => false,
          )
          // A pause, since reading is synchronous: a loop without one leaves the other side no time.
          if (isWritten) i += 2
          else await Bun.sleep(1)
        }
      }
      const viaCommand = (change: CallChange) => command.ingest.put(project.projectId, 'call-1', change)
      const viaHttp = async (change: CallChange) => {
        const { status } = await put(project, 'call-1', change)
        if (status === 409) throw new Error('gap')
        expect(status === 200 || status === 201).toBe(true)
      }
      await viaCommand({})
      await Promise.all([append(viaCommand, 0), append(viaHttp, 1)])
      expect((await getCall(project, 'call-1')).transcript).toEqual(whole)
    } finally {
      await command.close()
    }
  })

  test('two processes that merge 60 fields of 20 calls each at once are never told to come back', async () => {
    const project = await service.mintProject()
    const command = await openCommand(service.dataDir)
    try {
      const ids = Array.from({ length: 20 }, (_, i) => `call-${i}`)
      const work = ids.flatMap((id) => [
        put(project, id, { summary: `s ${id}` }).then(({ status }) => expect([200, 201]).toContain(status)),
        command.ingest.put(project.projectId, id, { evaluation: `e ${id}` }),
        command.ingest.put(project.projectId, id, { metadata: { id } }),
      ])
      await Promise.all(work)
      for (const id of ids)
        expect(await getCall(project, id)).toMatchObject({ summary: `s ${id}`, evaluation: `e ${id}` })
      const { pagination } = await (await project.fetch('/v1/calls?limit=0')).json()
      expect(pagination.total).toBe(20)
    } finally {
      await command.close()
    }
  })
})

describe('CALL_MAX_BYTES', () => {
  const callBytesMax = 4_000
  let limited: TestService
  beforeAll(async () => {
    limited = await startService({ env: { CALL_MAX_BYTES: String(callBytesMax) } })
  })

  const turn = (chars: number): Turn => ({ role: 'user', content: 'x'.repeat(chars) })

  /** How many characters of a summary make the document of a call with this id as large as is allowed. */
  async function summaryCharsMax(project: TestProject): Promise<number> {
    const answer = await put(project, 'empty', { summary: '' })
    return callBytesMax - (await answer.arrayBuffer()).byteLength
  }

  test.each([
    ['x', 1],
    ['é', 2],
    ['\u{1f600}', 4],
    ['"', 2],
  ])('counts %p as the %i bytes that it has in what is served', async (character, bytes) => {
    const project = await limited.mintProject()
    const most = await summaryCharsMax(project)
    const fitting = Math.floor(most / bytes)
    const filling = 'y'.repeat(most - fitting * bytes)
    const summary = character.repeat(fitting) + filling
    const allowed = await put(project, 'exact', { summary })
    expect([allowed.status, (await allowed.arrayBuffer()).byteLength]).toEqual([201, callBytesMax])
    expect((await put(project, 'exact', { summary })).status).toBe(200)
    await expectProblem(await put(project, 'above', { summary: `${summary}y` }), 'payload_too_large')
    expect((await project.fetch('/v1/calls/above')).status).toBe(404)
  })

  test.each<[string, CallChange]>([
    ['turns that are appended', { appendTranscript: { at: 1, turns: [turn(3_000)] } }],
    ['another transcript', { transcript: [turn(4_000)] }],
    ['an analysis', { callAnalysis: { n: Array.from({ length: 2_000 }, () => 1) } }],
  ])('is 413 for %s, also with what is there already, and nothing is written', async (_, change) => {
    const project = await limited.mintProject()
    const before = await (await put(project, 'a', { transcript: [turn(1_000)] })).text()
    const refused = await put(project, 'a', { ...change, status: 'completed', metadata: { a: 1 } })
    const { detail } = await expectProblem(refused, 'payload_too_large')
    expect(detail).toContain('CALL_MAX_BYTES')
    expect(await (await project.fetch('/v1/calls/a')).text()).toBe(before)
    expect((await put(project, 'a', { duration: 1 })).status).toBe(200)
  })

  test('a call that is larger already is read, listed, made smaller and deleted', async () => {
    const project = await limited.mintProject()
    await put(project, 'a', { summary: 'x' })
    const stored = sql`replace(document, '"x"', '"' || ${'x'.repeat(300_000)} || '"')`
    const { write } = limited.services.database
    const isThis = sql`seq = (select seq from calls where project_id = ${project.projectId})`
    await write.run(sql`update call_documents set document = ${stored} where ${isThis}`)
    await write.run(sql`update calls set document_chars = document_chars + 299999 where ${isThis}`)
    expect((await getCall(project, 'a')).summary).toHaveLength(300_000)
    expect((await (await project.fetch('/v1/calls')).json()).data[0].summary).toHaveLength(300_000)
    expect((await put(project, 'a', { duration: 1 })).status).toBe(413)
    expect((await put(project, 'a', { duration: 0 })).status).toBe(200)
    expect((await put(project, 'a', { summary: 'short' })).status).toBe(200)
    expect((await project.fetch('/v1/calls/a', { method: 'DELETE' })).status).toBe(200)
  })
})

describe('long calls', () => {
  test('are changed by many small requests at once, each in its turn', async () => {
    const project = await service.mintProject()
    const transcript = Array.from({ length: 700 }, (_, n) => ({
      role: 'user' as const,
      content: `${n} ${'and so on '.repeat(1_000)}`,
    }))
    for (const id of ['a', 'b']) await putCall(project, id, { transcript }, 201)
    const changes = Array.from({ length: 20 }, (_, n) => ({ id: n % 2 ? 'a' : 'b', key: `key${n}` }))
    const answers = await Promise.all(
      changes.map(async ({ id, key }) => {
        const answer = await put(project, id, { metadata: { key }, evaluation: key })
        return [answer.status, ((await answer.json()) as Call).evaluation]
      }),
    )
    expect(answers).toEqual(changes.map(({ key }) => [200, key]))
    expect(await metadataOf(project)).toHaveLength(2)
  })

  test('whose answers nobody reads are refused in the end, and nothing is written of what is refused', async () => {
    const project = await service.mintProject()
    const transcript = numbered(1)
    await putCall(project, 'unread', { transcript, callAnalysis: { text: 'x'.repeat(7_000_000) } }, 201)
    const body = JSON.stringify({ evaluation: 'success' })
    const unread: Awaited<ReturnType<typeof opened>>[] = []
    let [refused] = [await put(project, 'unread', {})]
    while (refused.ok) {
      await refused.arrayBuffer()
      const headers = { Authorization: `Bearer ${project.ingestKey}`, 'Content-Type': 'application/json' }
      const length = { 'Content-Length': String(body.length) }
      const text = head('PUT /ingest/calls/unread HTTP/1.1', { ...headers, ...length }) + body
      const connection = await opened(service.url, text)
      connection.socket.pause()
      unread.push(connection)
      refused = await put(project, 'unread', { endedReason: 'hangup' })
    }
    const { detail } = await expectProblem(refused, 'unavailable')
    expect(detail).toEndWith('Nothing was written.')
    const appendTranscript = { at: 1, turns: numbered(2).slice(1) }
    expect((await put(project, 'unread', { appendTranscript })).status).toBe(503)
    expect((await putMinimal(project, 'unread', { appendTranscript })).status).toBe(204)
    for (const { socket } of unread) socket.destroy()
  })
})

async function metadataOf(project: TestProject): Promise<string[]> {
  const rows = await service.services.database.read.all<{ metadata: string }>(sql`
    select metadata from call_details join calls on calls.seq = call_details.seq
    where metadata is not null and project_id = ${project.projectId}`)
  return rows.map(({ metadata }) => metadata)
}

async function changeSeqOf(project: TestProject): Promise<number> {
  const [row] = await service.services.database.read.all<{ change_seq: number }>(
    sql`select change_seq from projects where id = ${project.projectId}`,
  )
  return row?.change_seq ?? -1
}
