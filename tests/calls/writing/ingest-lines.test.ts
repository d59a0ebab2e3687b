import { describe, expect, spyOn, test } from 'bun:test'
import { expectProblem } from '../../support/problem.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const bodyBytesMax = 1_048_576
const callBytesMax = 65_536
const ndjson = { 'content-type': 'application/x-ndjson' }

const service = await startService({
  env: { BODY_MAX_BYTES: String(bodyBytesMax), CALL_MAX_BYTES: String(callBytesMax) },
})

interface Answer {
  line?: number
  id: string | null
  status: number
  code?: string
  title?: string
  detail?: string
}

function post(project: TestProject, body: RequestInit['body']): Promise<Response> {
  return project.fetch('/ingest/calls', { method: 'POST', body, headers: ndjson })
}

async function answersOf(answer: Response): Promise<Answer[]> {
  expect(answer.status).toBe(200)
  const text = await answer.text()
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

async function send(project: TestProject, ...lines: (object | string)[]): Promise<Answer[]> {
  const body = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  return await answersOf(await post(project, body))
}

async function storedIds(project: TestProject): Promise<string[]> {
  const page: { data: { id: string }[] } = await (await project.fetch('/v1/calls?limit=1000')).json()
  return page.data.map(({ id }) => id).sort()
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: `call-${at}`, duration: at }))

describe('POST /ingest/calls', () => {
  test('a text over 64 KiB is 400, as by PUT, and a shorter one is stored whole', async () => {
    const project = await service.mintProject()
    const [long, tooLong] = ['ä'.repeat(32_000), 'ä'.repeat(32_769)]
    const answers = await send(project, { id: 'a', summary: long }, { id: 'b', summary: tooLong })
    expect(answers).toMatchObject([
      { status: 201 },
      { status: 400, detail: expect.stringContaining('summary') },
    ])
    expect((await (await project.fetch('/v1/calls/a')).json()).summary).toBe(long)
  })

  test('writes a call a line, and answers each in its order with the status of a request of its own', async () => {
    const project = await service.mintProject()
    await project.send('PUT', '/ingest/calls/old', {})
    const answer = await post(
      project,
      '{"id":"new","summary":"Grüße 👋"}\n\n{"id":"old","duration":5}\r\n{"id":"new","status":"completed"}',
    )
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
    expect(answer.headers.get('x-request-id')).toBeTruthy()
    expect(await answersOf(answer)).toEqual([
      { id: 'new', status: 201 },
      { id: 'old', status: 200 },
      { id: 'new', status: 200 },
    ])
    const call = await (await project.fetch('/v1/calls/new')).json()
    expect(call).toMatchObject({ summary: 'Grüße 👋', status: 'completed' })
    expect(await (await project.fetch('/v1/calls/old')).json()).toMatchObject({ duration: 5 })
  })

  test('a bad line stops no other, and has the status, title and detail of its own request', async () => {
    const project = await service.mintProject()
    for (const id of ['gone', 'turns']) await project.send('PUT', `/ingest/calls/${id}`, {})
    await project.fetch('/v1/calls/gone', { method: 'DELETE' })
    const refused: (readonly [string, object])[] = [
      ['gone', {}],
      ['turns', { appendTranscript: { at: 3, turns: [] } }],
      ['bad-field', { duration: -1 }],
      ['bad-time', { createdAt: '2026-02-30T00:00:00Z' }],
      ['bad id', {}],
      ['too-large', { callAnalysis: { text: 'x'.repeat(callBytesMax) } }],
      ['nul', { summary: 'a\0b' }],
    ]
    const lines = refused.map(([id, change]) => ({ id, ...change }))
    const answers = await send(project, '{"id":"cut"', '7', '{}', ...lines, { id: 'good' })
    expect(answers.splice(0, 3)).toEqual([
      ...[
        'body: must be valid JSON: the error is at column 12',
        'body: must be an object',
        'id: is required',
      ].map((detail, at) => ({
        line: at + 1,
        id: null,
        status: 400,
        code: 'invalid_request',
        title: 'Invalid request',
        detail,
      })),
    ])
    expect(answers.pop()).toEqual({ id: 'good', status: 201 })
    for (const [at, [id, change]] of refused.entries()) {
      const own = await project.send('PUT', `/ingest/calls/${encodeURIComponent(id)}`, change)
      const { status, code, title, detail } = await own.json()
      // What is no JSON of ours has no id to name it by.
      expect(answers[at]).toEqual({ line: at + 4, id: id === 'nul' ? null : id, status, code, title, detail })
    }
    expect(answers.map(({ status }) => status)).toEqual([410, 409, 400, 400, 400, 413, 400])
    expect(await storedIds(project)).toEqual(['good', 'turns'])
  })

  test('looks for no call by an id that none can have', async () => {
    const project = await service.mintProject()
    const putAll = spyOn(service.services.ingest, 'putAll')
    const answers = await send(project, { id: 'x'.repeat(1_000_000) }, { id: 'good' })
    const asked = putAll.mock.calls.flatMap(([, inputs]) => inputs.map(({ id }) => id))
    putAll.mockRestore()
    expect(answers.map(({ status }) => status)).toEqual([400, 201])
    expect(asked).toEqual(['good'])
  })

  test('a refused line is told with its number, blank lines counted, on a line of its own', async () => {
    const project = await service.mintProject()
    const answer = await post(project, '\n{"id":"a"}\n \r\n{"id":"b\u2028\u0085"}\n{"id":"c","duration":-1}')
    const text = await answer.text()
    expect(text).not.toMatch(/[\u2028\u0085]/)
    const answers = text.trimEnd().split('\n')
    expect(answers.map((line) => JSON.parse(line))).toMatchObject([
      { id: 'a', status: 201 },
      { line: 4, id: 'b\u2028\u0085', status: 400 },
      { line: 5, id: 'c', status: 400 },
    ])
  })

  test('invalid UTF-8 in a line is refused, and an endless id is named by its beginning', async () => {
    const project = await service.mintProject()
    const body = Buffer.from(
      `{"id":"latin","summary":"\xff"}\n{"id":"${'x'.repeat(9_000)}"}\n{"id":"good"}`,
      'latin1',
    )
    const answers = await answersOf(await post(project, body))
    expect(answers.map(({ id, status }) => [id, status])).toEqual([
      [null, 400],
      ['x'.repeat(128), 400],
      ['good', 201],
    ])
  })

  test('each line is answered while the next is still to come', async () => {
    const project = await service.mintProject()
    const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const write = writable.getWriter()
    write.write(Buffer.from('{"id":"first"}\n{"id":"sec'))
    const answer = await post(project, body)
    const reader = answer.body?.getReader()
    expect(String(Buffer.from((await reader?.read())?.value ?? []))).toBe('{"id":"first","status":201}\n')
    expect(await storedIds(project)).toEqual(['first'])
    write.write(Buffer.from('ond"}\n'))
    expect(String(Buffer.from((await reader?.read())?.value ?? []))).toBe('{"id":"second","status":201}\n')
    write.close()
    expect((await reader?.read())?.done).toBe(true)
  })

  test('a connection that breaks leaves the whole lines that arrived, and no trace of the rest', async () => {
    const project = await service.mintProject()
    const away = new AbortController()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from('{"id":"whole"}\n{"id":"broken","summary":"x')),
    })
    const headers = { ...ndjson, authorization: `Bearer ${project.ingestKey}` }
    const init = { method: 'POST', body, headers, signal: away.signal }
    const answer = await fetch(`${service.url}/ingest/calls`, init)
    await answer.body?.getReader().read()
    away.abort()
    await until(async () => (await send(project, { id: 'after' }))[0]?.status === 200)
    expect(await storedIds(project)).toEqual(['after', 'whole'])
    expect(service.logs.filter(({ msg }) => msg === 'internal')).toEqual([])
  })

  test('takes 10,000 lines; those after them are not written, and the last answer says so', async () => {
    const project = await service.mintProject()
    const answers = await send(project, ...numbered(10_002))
    expect(answers).toHaveLength(10_001)
    expect(
      answers.slice(0, 10_000).every(({ id, status }, at) => id === `call-${at}` && status === 201),
    ).toBe(true)
    expect(answers.at(-1)).toMatchObject({ line: 10_001, id: null, status: 413, code: 'payload_too_large' })
    const { pagination } = await (await project.fetch('/v1/calls?limit=0')).json()
    expect(pagination.total).toBe(10_000)
  })

  test('a body over the limit is 413 at once, or, of unknown length, once its last line is too much', async () => {
    const project = await service.mintProject()
    const lines = ['{"id":"first"}\n', `{"id":"second","summary":"${'x'.repeat(bodyBytesMax)}"}\n`]
    await expectProblem(await post(project, lines.join('')), 'payload_too_large')
    expect(await storedIds(project)).toEqual([])
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const line = lines.shift()
        if (line) controller.enqueue(Buffer.from(line))
        else controller.close()
        await Bun.sleep(10)
      },
    })
    const answers = await answersOf(await post(project, body))
    expect(answers.map(({ line, id, status }) => [line, id, status])).toEqual([
      [undefined, 'first', 201],
      [2, null, 413],
    ])
    expect(await storedIds(project)).toEqual(['first'])
  })

  test('waiting bodies share a bounded memory, and give it back', async () => {
    const project = await service.mintProject()
    const away = new AbortController()
    const headers = { ...ndjson, authorization: `Bearer ${project.ingestKey}` }
    const start = Buffer.from(`{"id":"call-1","callAnalysis":{"text":"${'x'.repeat(0.9 * bodyBytesMax)}`)
    const waiting = Array.from({ length: 5 }, async () => {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(start) })
      const init = { method: 'POST', body, headers, signal: away.signal }
      const answer = await fetch(`${service.url}/ingest/calls`, init)
      return await answer.body?.getReader().read()
    })
    const first = await Promise.race(waiting)
    for (const other of waiting) other.catch(() => undefined)
    expect(JSON.parse(String(Buffer.from(first?.value ?? [])))).toMatchObject({ id: null, status: 503 })
    away.abort()
    await until(async () => (await send(project, `${start}"}}`))[0]?.status === 413)
    for (let count = 0; count < 6; count++)
      expect((await send(project, `${start}"}}`, { id: 'good' })).map(({ status }) => status)).toEqual([
        413,
        count ? 200 : 201,
      ])
  })

  test('an empty body has no lines and no answers', async () => {
    expect(await send(await service.mintProject(), '')).toEqual([])
  })
})
