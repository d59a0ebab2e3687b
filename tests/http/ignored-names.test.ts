import { describe, expect, test } from 'bun:test'
import { ignoredIn } from '../../src/http/ignored-names.ts'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.mintProject()

const strict = { prefer: 'respond-async, handling=strict' }

function send(method: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  return project.fetch(path, {
    method,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })
}

describe('names that are not known', () => {
  const lists = [
    ['/v1/calls', {}],
    ['/v1/calls', { accept: 'text/csv' }],
    ['/v1/calls', { accept: 'application/x-ndjson' }],
    ['/v1/metrics', {}],
  ] as const

  test.each(lists)(
    'of %s %j are refused if they can only be meant as a filter, with the nearest name',
    async (path, headers) => {
      for (const [name, nearest] of [
        ['agent_id', 'agentId'],
        ['agentid', 'agentId'],
        ['Agent-Id', 'agentId'],
        ['form', 'from'],
        ['evaluaton', 'evaluation'],
        ['metdata.tenant', expect.any(String)],
        ['anlysis.intent', 'analysis.KEY'],
        ['status[0]', 'status'],
        ['filter[status]', expect.any(String)],
      ]) {
        const answer = await project.fetch(`${path}?${name}=7`, { headers })
        const { errors } = await expectProblem(answer, 'invalid_request')
        const message = typeof nearest === 'string' ? `is not known; the nearest name is ${nearest}` : nearest
        expect(errors).toEqual([{ field: name ?? '', message }])
      }
      const answer = await project.fetch(`${path}?_t=1&_t=2&t=3&page=4&test=1&next=a&top=3`, { headers })
      expect([answer.status, answer.headers.get('callbook-ignored')]).toEqual([
        200,
        '_t, t, page, test, next, top',
      ])
    },
  )

  test.each(lists)(
    'of %s %j that take one value are refused if they are sent twice',
    async (path, headers) => {
      const own =
        path === '/v1/metrics'
          ? ['of=calls', 'by=day', 'timeZone=UTC']
          : ['limit=1', 'order=createdAt', 'details=include']
      for (const parameter of [...own, 'from=2026-01-01', 'minDuration=1', 'text=a', 'number=1']) {
        const [name = ''] = parameter.split('=')
        const answer = await project.fetch(`${path}?${parameter}&${parameter}`, { headers })
        const { errors } = await expectProblem(answer, 'invalid_request')
        const advice = name === 'by' ? ': send two groups as by=day,evaluation' : ''
        const message = `takes one value, but was sent several times${advice}`
        expect(errors).toEqual([{ field: name, message }])
      }
      expect(
        (await project.fetch(`${path}?label=a&label=b&analysis.a=1&analysis.a=2`, { headers })).status,
      ).toBe(200)
    },
  )

  test('are ignored and named: fields, fields of turns once, and query parameters', async () => {
    const turns = [
      { role: 'user', content: 'hi', time: 1 },
      { role: 'user', content: 'ho', time: 2 },
    ]
    const body = { caller_number: '+1', callerNumber: '+2', transcript: turns }
    const answer = await send('PUT', '/ingest/calls/a?page=2&page=3', body)
    expect(answer.status).toBe(201)
    expect(answer.headers.get('callbook-ignored')).toBe('page, caller_number, transcript.time')
    expect((await answer.json()).callerNumber).toBe('+2')
    const list = await project.fetch('/v1/calls?page=2&limit=1')
    expect([list.status, list.headers.get('callbook-ignored')]).toEqual([200, 'page'])
    const head = await project.fetch('/v1/calls/a?x=1', { method: 'HEAD' })
    expect([head.status, head.headers.get('callbook-ignored')]).toEqual([200, 'x'])
  })

  test('are not named where every name is the own one of the client, nor where all are known', async () => {
    const body = { id: 'b', metadata: { any: { thing: 1 } }, callAnalysis: { other: 1 } }
    expect((await send('PUT', '/ingest/calls/b', body)).headers.has('callbook-ignored')).toBe(false)
    expect((await project.fetch('/v1/calls?limit=1&offset=0')).headers.has('callbook-ignored')).toBe(false)
    const tool = { message: { type: 'tool-calls', toolCallList: [], call: { id: 1 } } }
    expect((await send('POST', '/integrations/vapi/tool', tool)).headers.has('callbook-ignored')).toBe(false)
  })

  test('are at most 20, and written so that a header can hold them', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x${n}`, 1]))
    const answer = await send('PUT', '/ingest/calls/c', many)
    expect(answer.headers.get('callbook-ignored')?.split(', ')).toHaveLength(20)
    const odd = await send('PUT', '/ingest/calls/c', {
      'a,b\r\nc: é': 1,
      ['y'.repeat(500)]: 1,
      constructor: 1,
    })
    expect(odd.headers.get('callbook-ignored')).toBe(
      `a%2Cb%0D%0Ac%3A%20%C3%A9, ${'y'.repeat(100)}, constructor`,
    )
  })

  test('are looked for as far as the twentieth, however many follow', () => {
    let looked = 0
    const body = new Proxy(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`x${n}`, n])), {
      get(target, name) {
        looked++
        return Reflect.get(target, name)
      },
    })
    expect(ignoredIn({ properties: { known: {} } }, body, false)).toHaveLength(20)
    expect(looked).toBeLessThanOrEqual(20)
  })

  test('are told on a 400 as well, since a misspelled name is often why', async () => {
    const answer = await send('POST', '/v1/knowledge', { nmae: 'n', text: 't' })
    expect(answer.headers.get('callbook-ignored')).toBe('nmae')
    await expectProblem(answer, 'invalid_request')
  })

  test('are 400 with Prefer: handling=strict, each with the nearest known name, and nothing is written', async () => {
    const answer = await send(
      'PUT',
      '/ingest/calls/strict?limti=1',
      { caller_number: '+1', sumary: 's', caller: '+1', cost: 1 },
      strict,
    )
    expect(answer.status).toBe(400)
    expect((await answer.json()).errors).toEqual([
      { field: 'limti', message: 'is not known' },
      { field: 'caller_number', message: 'is not known; the nearest name is callerNumber' },
      { field: 'sumary', message: 'is not known; the nearest name is summary' },
      { field: 'caller', message: 'is not known; the nearest name is callerNumber' },
      { field: 'cost', message: 'is not known' },
    ])
    expect((await project.fetch('/v1/calls/strict')).status).toBe(404)
    const list = await project.fetch('/v1/calls?limti=1', { headers: strict })
    expect((await list.json()).detail).toBe('limti: is not known; the nearest name is limit')
    expect((await send('PUT', '/ingest/calls/strict', { summary: 's' }, strict)).status).toBe(201)
  })

  test('are named on the lines of many calls, and refuse the line alone with Prefer: handling=strict', async () => {
    const post = async (headers: Record<string, string>) => {
      const answer = await project.fetch('/ingest/calls', {
        method: 'POST',
        body: '{"id":"l1","sumary":"x"}\n{"id":"l2"}\n',
        headers: { 'content-type': 'application/x-ndjson', ...headers },
      })
      return (await answer.text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    }
    const [refused, taken] = await post(strict)
    expect(refused).toMatchObject({ id: 'l1', status: 400, detail: expect.stringContaining('summary') })
    expect(taken).toEqual({ id: 'l2', status: 201 })
    expect(await post({})).toEqual([
      { id: 'l1', status: 201, ignored: ['sumary'] },
      { id: 'l2', status: 200 },
    ])
  })

  test('are not looked for before the key is known', async () => {
    const answer = await fetch(`${service.url}/v1/calls?page=1`, { headers: strict })
    expect([answer.status, answer.headers.has('callbook-ignored')]).toEqual([401, false])
  })
})

describe('sentences that help', () => {
  const detailOf = async (answer: Response) => (await answer.json()).detail

  test('say how many more faults there are', async () => {
    const turns = (count: number) => Array.from({ length: count }, () => ({ role: 'agent', content: 'hi' }))
    const first = 'transcript.0.role: must be one of user, assistant'
    expect(await detailOf(await send('PUT', '/ingest/calls/d', { transcript: turns(1) }))).toBe(first)
    expect(await detailOf(await send('PUT', '/ingest/calls/d', { transcript: turns(5) }))).toBe(
      `${first} (and 4 more faults)`,
    )
    expect(await detailOf(await send('PUT', '/ingest/calls/d', { transcript: turns(900) }))).toBe(
      `${first} (and 899 more faults)`,
    )
  })

  test('show what a time looks like to those who send seconds', async () => {
    expect(await detailOf(await send('PUT', '/ingest/calls/d', { createdAt: 1_769_850_000 }))).toContain(
      '2026-01-31T09:30:00.000Z',
    )
  })

  test('say where JSON goes wrong', async () => {
    const answer = await project.fetch('/v1/knowledge/search', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{\n  "query": "x",\n  "limit": 5,\n}',
    })
    expect(await detailOf(answer)).toBe('body: must be valid JSON: the error is at line 4, column 1')
  })

  test('point from a method that a path does not take to what does it', async () => {
    for (const [method, path, hint] of [
      ['POST', '/v1/calls', 'PUT /ingest/calls/{id}'],
      ['PATCH', '/v1/calls/a', 'PUT /ingest/calls/{id}'],
      ['PATCH', '/ingest/calls/a', 'PUT merges'],
      ['PUT', '/v1/erasures/a', 'See /docs.'],
    ] as const) {
      const answer = await send(method, path, {})
      expect([path, answer.status]).toEqual([path, 405])
      expect(await detailOf(answer)).toContain(hint)
    }
  })
})
