import { describe, expect, test } from 'bun:test'
import createClient from 'openapi-fetch'
import { emptyDetails } from '../../../src/calls/details.ts'
import { callFilters, takesSeveral } from '../../../src/calls/filters.ts'
import type { CallChange } from '../../../src/calls/schemas.ts'
import { toSpeechBytes } from '../../../src/calls/sound/speech-bytes.ts'
import { operationsOf, readDocument } from '../../support/document.ts'
import { expectProblem } from '../../support/problem.ts'
import { startService } from '../../support/service.ts'
import { putCalls } from '../put-calls.ts'

type Pairs = [name: string, value: string][]

/** `encodeURIComponent` for each, as hey-api 0.13.1 and openapi-fetch write a query. */
const byComponent = (pairs: Pairs) =>
  pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
/** As `application/x-www-form-urlencoded`: a space is a plus. */
const byForm = (pairs: Pairs) => new URLSearchParams(pairs).toString()
/** The bytes of Python's `quote_plus` and Go's `QueryEscape`, of which only `-._~` and letters stay. */
const byQuoting = (pairs: Pairs) => {
  const quoted = (text: string) =>
    encodeURIComponent(text)
      .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%20', '+')
  return pairs.map(([name, value]) => `${quoted(name)}=${quoted(value)}`).join('&')
}
const byName = (pairs: Pairs) => pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))

/**
 * How clients write a query: openapi-fetch and URLSearchParams are the real ones here. The others were run once
 * against a server that prints what arrives, and these are their bytes: got 16.1.0 and ky 2.1.0 use URLSearchParams;
 * requests 2.34.2 and httpx 0.28.1 agree; curl 8 writes its escapes in lower case.
 */
const clients: Record<string, (pairs: Pairs) => Promise<string> | string> = {
  'openapi-fetch': async (pairs) => {
    let sent = ''
    const fetch = async ({ url }: Request) => {
      sent = url.replace(/^[^?]*\?/, '')
      return Response.json({})
    }
    const names = [...new Set(pairs.map(([name]) => name))]
    const query = Object.fromEntries(
      names.map((name) => {
        const values = pairs.filter(([other]) => other === name).map(([, value]) => value)
        return [name, values.length > 1 ? values : values[0]]
      }),
    )
    const client = createClient<Record<string, Record<string, never>>>({ baseUrl: 'http://callbook', fetch })
    await (client.GET as (path: string, options: object) => Promise<unknown>)('/v1/calls', {
      params: { query },
    })
    return sent
  },
  'hey-api': byComponent,
  'got, ky and URLSearchParams': byForm,
  'requests and httpx': byQuoting,
  'Go url.Values': (pairs) => byQuoting(byName(pairs)),
  'curl --data-urlencode': (pairs) => byQuoting(pairs).replace(/%[0-9A-F]{2}/g, (sign) => sign.toLowerCase()),
  'a URL as people write it': (pairs) => byComponent(pairs).replaceAll('%2C', ',').replaceAll('%5C', '\\'),
}

/** Two values of each filter, a call that has each, and one of neither. */
const directions = ['inbound', 'web'] as const
const several: Record<string, [string, string]> = {
  direction: [...directions],
  agentVersion: ['v1, beta', 'v2'],
  status: ['live', 'completed'],
  evaluation: ['a,b', 'c d'],
  isEngaged: ['true', 'false'],
  callerNumber: ['+1555', '+1 (666) 7'],
  calledNumber: ['+2555', 'sip:a,b'],
  endedReason: ['a\\b', 'c, \\d'],
  source: ['from a', 'from,b'],
  agentId: ['a&b=c', 'ü,+'],
  label: ['vip', 'a,b'],
  assignee: ['Ada', 'Lin, B'],
  recording: ['kept', 'failed'],
  sound: ['measured', 'unmeasured'],
  reviewed: ['true', 'false'],
  flagged: ['true', 'false'],
  noted: ['true', 'false'],
  'analysis.topic': ['late, refund', '4'],
  'analysis.a.b, c': ['\\', ','],
}
/** One value of each filter that takes one, with which both calls are found, or the one that was completed, or measured. */
const single: Record<string, string> = {
  from: '2026-01-05T00:00:00.000+00:00',
  to: '2026-01-06',
  completedFrom: '2026-01-05T00:00:00+00:00',
  completedTo: '9999-12-31',
  updatedFrom: '2026-01-05T00:00:00+00:00',
  minDuration: '1e+0',
  maxDuration: '90.5',
  minResponseMs: '1e3',
  maxResponseMs: '1000',
  minDeadAirSeconds: '0',
  minTalkOverSeconds: '0.0',
  minAgentShare: '0.5',
  maxAgentShare: '5e-1',
  number: '+1',
  text: 'hello, "late, refund" world',
}
const escaped = (value: string) => value.replace(/[\\,]/g, '\\$&')

const service = await startService()
const project = await service.mintProject()
const own = (n: 0 | 1) => ({
  source: several.source?.[n] ?? '',
  recording: { ...emptyDetails.recording, state: n === 0 ? ('kept' as const) : ('failed' as const) },
  speech: { bytes: toSpeechBytes(n === 0 ? [[[1, 2]], [[3, 4]]] : 'mono'), callerChannel: null },
  review: {
    evaluation: null,
    by: null,
    at: '2026-01-05T00:00:00.000Z',
    note: n === 0 ? 'x' : null,
    labels: [several.label?.[n] ?? ''],
    assignee: several.assignee?.[n] ?? null,
    reviewed: n === 0,
    flaggedTurns: n === 0 ? [0] : [],
  },
})
const change = (n: 0 | 1): CallChange => ({
  status: n === 0 ? 'live' : 'completed',
  evaluation: several.evaluation?.[n] ?? null,
  isEngaged: n === 0,
  callerNumber: several.callerNumber?.[n] ?? null,
  calledNumber: several.calledNumber?.[n] ?? null,
  endedReason: several.endedReason?.[n] ?? null,
  duration: 60,
  summary: 'Hello world: late, refund.',
  callAnalysis: Object.fromEntries(
    Object.entries(several)
      .filter(([name]) => name.startsWith('analysis.'))
      .map(([name, values]) => [
        name.slice('analysis.'.length),
        n === 1 && values[1] === '4' ? 4 : values[n],
      ]),
  ),
  details: {
    agent: { id: several.agentId?.[n] ?? '', name: null, version: several.agentVersion?.[n] ?? null },
    direction: directions[n],
  },
  createdAt: '2026-01-05T09:00:00.000Z',
  updatedAt: '2026-01-05T09:00:00.000Z',
})
await service.services.ingest.putAll(project.projectId, [
  { id: 'first', change: change(0), own: own(0) },
  { id: 'second', change: change(1), own: own(1) },
])
await putCalls(service.services, project.projectId, [
  { id: 'other', createdAt: '2026-01-07T00:00:00.000Z', updatedAt: '2026-01-04T00:00:00.000Z' },
])

async function idsOf(query: string): Promise<string[]> {
  const answer = await project.fetch(`/v1/calls?${query}`)
  const { data } = await answer.json()
  return [answer.headers.get('callbook-ignored') ?? '', ...data.map(({ id }: { id: string }) => id).sort()]
}

describe.each(Object.entries(clients))('%s', (_, write) => {
  /** Those that many calls have, besides these two. */
  const others = new Set(['status', 'reviewed', 'flagged', 'noted'])

  test.each(Object.entries(several))(
    'finds by several values of %s, however they are sent',
    async (name, values) => {
      const [one, two] = values.map(escaped) as [string, string]
      const both = others.has(name) ? ['', 'first', 'other', 'second'] : ['', 'first', 'second']
      const forms: Record<string, Pairs> = {
        separated: [[name, `${one},${two}`]],
        repeated: [one, two].map((value) => [name, value]),
        'both ways': [`${two},${one}`, one].map((value) => [name, value]),
        'beside another filter': [
          ['order', 'createdAt'],
          [name, one],
          [name, two],
        ],
      }
      for (const [form, pairs] of Object.entries(forms))
        expect([form, await idsOf(await write(pairs))]).toEqual([form, both])
      expect(await idsOf(await write([[name, one]]))).toContain('first')
      expect(await idsOf(await write([[name, one]]))).not.toContain('second')
    },
  )

  test.each(Object.entries(single))('finds by the one value of %s', async (name, value) => {
    const isOpen = ['maxDuration', 'from'].includes(name)
    const isOfSound = /Response|DeadAir|TalkOver|AgentShare/.test(name)
    const found = name.startsWith('completed') ? ['second'] : isOfSound ? ['first'] : ['first', 'second']
    const expected = isOpen ? ['', 'first', 'other', 'second'] : ['', ...found]
    expect(await idsOf(await write([[name, value]]))).toEqual(expected)
  })

  test('picks several fields, and one limit', async () => {
    const forms: Pairs[] = [
      [['fields', 'duration,status']],
      [
        ['fields', 'duration'],
        ['fields', 'status'],
      ],
    ]
    for (const pairs of forms) {
      const query = await write([['limit', '1'], ['offset', '0'], ...pairs])
      const { data } = await (await project.fetch(`/v1/calls?${query}`)).json()
      expect(data).toEqual([{ id: 'other', status: 'live', duration: 0 }])
    }
  })
})

test('these are all filters', () => {
  expect(
    [...Object.keys(several), ...Object.keys(single)].filter((name) => !name.includes('.')).sort(),
  ).toEqual(callFilters.map(({ name }) => name).sort())
  for (const name of Object.keys(several)) expect([name, takesSeveral(name)]).toEqual([name, true])
  for (const name of Object.keys(single)) expect([name, takesSeveral(name)]).toEqual([name, false])
})

describe('a value', () => {
  test.each([
    ['evaluation=a%2C', 'evaluation'],
    ['evaluation=,a', 'evaluation'],
    ['evaluation=a,,b', 'evaluation'],
    ['evaluation=a&evaluation=', 'evaluation'],
    ['evaluation', 'evaluation'],
    ['analysis.topic=a,', 'analysis.topic'],
    ['label=%5C%5C%2C', 'label'],
    ['fields=id%2C', 'fields'],
    ['number=4053,4054', 'number'],
    ['from=2026-01-05,2026-01-06', 'from'],
    ['minDuration=1%2C5', 'minDuration'],
    ['limit=1,2', 'limit'],
    ['order=', 'order'],
  ])('%s is 400 and names %s', async (query, field) => {
    const answer = await project.fetch(`/v1/calls?${query}`)
    const { errors } = await expectProblem(answer, 'invalid_request')
    expect(errors).toMatchObject([{ field }])
  })

  test('has a comma as \\, and a backslash as \\\\; any other backslash is itself', async () => {
    expect(await idsOf('endedReason=a%5Cb')).toEqual(['', 'first'])
    expect(await idsOf('endedReason=a%5C%5Cb')).toEqual(['', 'first'])
    expect(await idsOf('endedReason=c%5C,%20%5Cd')).toEqual(['', 'second'])
    expect(await idsOf('analysis.a.b,%20c=%5C')).toEqual(['', 'first'])
    expect(await idsOf('label=a,b')).toEqual([''])
  })

  test('of a key of the analysis is a known name in strict mode', async () => {
    const headers = { prefer: 'handling=strict' }
    const answer = await project.fetch('/v1/calls?analysis.topic=4', { headers })
    expect([answer.status, (await answer.json()).data.length]).toEqual([200, 1])
    const problem = await expectProblem(
      await project.fetch('/v1/calls?analysis=4', { headers }),
      'invalid_request',
    )
    expect(problem.errors).toMatchObject([{ field: 'analysis' }])
  })
})

test('ten filters of fifty values each find calls, and figures of them, by any of the values', async () => {
  const own = await service.mintProject()
  const members = Array.from({ length: 4 }, (_, n) => [`k${n}`, 7])
  const change = {
    evaluation: '7',
    endedReason: '7',
    callerNumber: '7',
    calledNumber: '7',
    details: { agent: { id: '7' } },
  }
  await own.send('PUT', '/ingest/calls/a', { ...change, callAnalysis: Object.fromEntries(members) })
  const names = [...members.map(([key]) => `analysis.${key}`), ...Object.keys(change).slice(0, -1), 'agentId']
  const values = Array.from({ length: 50 }, (_, n) => n).join()
  const query = [...names, 'source']
    .map(
      (name) => `${name}=${name === 'source' ? 'none,' : ''}${name === 'source' ? values.slice(2) : values}`,
    )
    .join('&')
  const answer = await own.fetch(`/v1/calls?${query}`)
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { data: [{ id: 'a' }], pagination: { total: 1 } },
  ])
  for (const by of ['', '&by=evaluation', '&by=day'])
    expect(await (await own.fetch(`/v1/metrics?${query}${by}`)).json()).toMatchObject({ total: 1 })
})

test('a request with more values than fit into 16 KiB is 431, as the document says', async () => {
  const values = Array.from({ length: 40 }, (_, n) => `${n}`.padEnd(500, 'x'))
  const { status } = await project.fetch(`/v1/calls?label=${values.join(',')}`)
  const list = operationsOf(await readDocument(service.url)).find((each) => each.operationId === 'listCalls')
  // Neither a body nor headers: the service does not see the request.
  expect([status, list?.responses[431]]).toEqual([431, { description: expect.any(String) }])
})

test('the document declares an array that clients repeat for each parameter that takes several values', async () => {
  const operations = operationsOf(await readDocument(service.url))
  const parameterOf = (operationId: string, name: string) =>
    operations
      .find((each) => each.operationId === operationId)
      ?.parameters?.find((each) => each.name === name)
  const isArray = (name: string) => {
    const { schema, explode } = parameterOf('listCalls', name) ?? {}
    return [name, Object(schema).type === 'array', explode === true]
  }
  for (const name of [...Object.keys(several), 'fields', 'analysis.KEY'])
    if (!/^analysis\.[^K]/.test(name)) expect(isArray(name)).toEqual([name, true, true])
  for (const name of [...Object.keys(single), 'limit', 'offset', 'cursor', 'order'])
    expect(isArray(name)).toEqual([name, false, false])
  expect(parameterOf('listKnowledge', 'fields')).toMatchObject({ explode: true, schema: { type: 'array' } })
})
