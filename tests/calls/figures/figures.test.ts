import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Call, CallChange, CallDetails, Review } from '../../../src/calls/schemas.ts'
import { escapeValue } from '../../../src/text/values.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { putCalls } from '../put-calls.ts'
import { evaluationOf, isListed, type KnownCall, shownOf } from '../rules.ts'

setDefaultTimeout(240_000)
const service = await startService()

type Query = Record<string, string[]>
const few = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
const minuteMs = 60_000
const iso = (time: number) => new Date(time).toISOString()

/** The days around changes of clocks: of an hour, of half an hour, and at midnight. */
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/Havana',
  // In 2006 clocks went back at one minute past midnight.
  'America/St_Johns',
]
const days = [
  '2006-10-28',
  '2026-03-08',
  '2026-03-29',
  '2026-04-04',
  '2026-10-04',
  '2026-10-25',
  '2026-11-01',
]

const change: fc.Arbitrary<CallChange> = fc.record({
  status: few('live' as const, 'completed' as const),
  evaluation: few(null, 'success', 'fail', 'B,x', 'none'),
  endedReason: few(null, 'a', 'none'),
  isEngaged: fc.boolean(),
  duration: few(0, 1.25, 60, 61.5),
  summary: few(null, 'alpha', 'beta', 'alpha beta'),
  callAnalysis: few(
    {},
    { k: 'x', n: 2 },
    { k: 4, n: 2.5 },
    { k: '4', n: '7' },
    { k: '4.0' },
    { k: true },
    { k: 'true', n: -1 },
    { k: '' },
    { k: 'none', n: true },
  ),
  details: fc.record({
    agent: few(null, { id: 'x', name: null }, { id: 'none', name: null }),
    timeline: few([], ['y'], ['y', 'none'], ['x', 'z']).map((ids) =>
      ids.map((agentId) => ({ atSeconds: 1, kind: 'other' as const, agentId })),
    ),
    costUsd: few(null, 0, 0.25, 1.5),
    latencyMs: few(null, 300, 812.5),
  }),
})
/** What people and the service say of a call. */
const own = fc.record({
  source: few(null, 'vapi', 'none'),
  review: fc.record({
    evaluation: few(null, 'success', 'fail'),
    labels: fc.subarray(['l', 'm', 'none', '4']),
    criteria: few<Record<string, 'pass' | 'fail'>>({}, { c: 'pass' }, { c: 'fail', d: 'pass' }),
    reviewed: fc.boolean(),
  }),
})
type Own = typeof own extends fc.Arbitrary<infer Value> ? Value : never

const some = (...values: string[]) => fc.uniqueArray(few(...values), { minLength: 1, maxLength: 2 })
const filters: Record<string, fc.Arbitrary<string[]>> = {
  status: some('live', 'completed'),
  evaluation: some('none', 'success', 'B,x'),
  endedReason: some('none', 'a'),
  isEngaged: some('true', 'false'),
  minDuration: few(['1'], ['60']),
  agentId: some('x', 'y', 'z', 'none'),
  source: some('vapi', 'none'),
  label: some('l', 'm', 'none'),
  reviewed: some('true', 'false'),
  text: few(['alpha'], ['beta'], ['"alpha beta"']),
  'analysis.k': some('x', '4', 'true'),
}
const shown: Record<string, string[]> = {
  calls: ['count'],
  success: ['share'],
  'criterion.c': ['share'],
  ...Object.fromEntries(
    ['duration', 'costUsd', 'latencyMs', 'analysis.n'].map((of) => [
      of,
      ['sum', 'avg', 'min', 'max', 'p50', 'p95'],
    ]),
  ),
}
/** Half of them are of what is counted at each write. */
const asked = fc
  .oneof(few(...Object.entries(shown).slice(0, 2)), few(...Object.entries(shown)))
  .chain(([of, shows]) =>
    fc.record({
      of: fc.constant(of),
      show: few(...shows),
      by: few(null, 'day', 'hour', 'agentId', 'source', 'endedReason', 'evaluation', 'label', 'analysis.k'),
      timeZone: few(...zones),
    }),
  )
type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never

/** In minutes from the start of a day, so that some calls share an hour that comes twice. */
const minute = fc.integer({ min: -300, max: 2_900 })
const plan = fc.record({
  day: few(...days),
  calls: fc.array(fc.tuple(minute, change, own), { minLength: 2, maxLength: 12, size: 'max' }),
  writes: fc.array(fc.tuple(fc.nat({ max: 11 }), fc.option(fc.tuple(change, own))), { maxLength: 5 }),
  query: fc
    .subarray(Object.entries(filters), { maxLength: 2 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen))),
  from: fc.option(minute),
  to: fc.option(minute),
  asked: fc.array(asked, { minLength: 6, maxLength: 6 }),
})

describe('figures', () => {
  test('are those that a look at each call gives, whatever is written and deleted', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ day, calls, writes, query, from, to, asked }) => {
        const start = Date.parse(day)
        const project = await service.mintProject()
        const known = new Map<string, KnownCall>()
        const put = async (...written: [id: string, change: CallChange, own: Own][]) => {
          const inputs = written.map(([id, change, own]) => {
            const review: Review = { ...own.review, note: null, by: null, at: iso(0) }
            return { id, change, own: { source: own.source, review } }
          })
          for (const result of await service.services.ingest.putAll(project.projectId, inputs))
            if (result instanceof Error) throw result
          for (const { id } of inputs) known.set(id, await readCall(project, id))
        }
        await put(
          ...calls.map(([at, change, own], n): [string, CallChange, Own] => [
            `${n}`,
            { ...change, createdAt: iso(start + at * minuteMs) },
            own,
          ]),
        )
        const period = Object.fromEntries(
          Object.entries({ from, to }).flatMap(([name, at]) =>
            at === null ? [] : [[name, [iso(start + at * minuteMs)]]],
          ),
        )
        for (const one of asked) {
          await expectFigures(project, [...known.values()], { ...query, ...period }, one)
          for (const [n, written] of writes) {
            const id = `${n}`
            if (written && known.has(id)) await put([id, ...written])
            else if (known.delete(id)) await service.services.calls.delete(project.projectId, id)
          }
        }
      }),
      { ...runs(35), interruptAfterTimeLimit: 200_000, markInterruptAsFailure: true },
    )
  })

  test('whose numbers are kept follow each change and deletion of a call', async () => {
    const project = await service.mintProject()
    const put = (id: string, createdAt: string, latencyMs: number) =>
      putCalls(service.services, project.projectId, [{ id, createdAt, details: { latencyMs } }])
    const read = async () => {
      const query = { of: ['latencyMs'], show: ['sum'], by: ['day'], timeZone: ['Europe/Berlin'] }
      return (await service.services.figures.read(project.projectId, query)).data.map(({ value }) => value)
    }
    const [one, other] = ['2026-01-30T12:00:00Z', '2026-01-30T23:30:00Z']
    await put('a', one, 1)
    await put('b', other, 10)
    expect(await read()).toEqual([1, 10])
    await put('a', one, 2)
    expect(await read()).toEqual([2, 10])
    await service.services.calls.delete(project.projectId, 'b')
    expect(await read()).toEqual([2])
    await put('c', other, 30)
    await put('a', one, 4)
    expect(await read()).toEqual([4, 30])
  })

  test('begin and end where they are asked to, in the time zone of the project', async () => {
    const project = await service.mintProject()
    const calls = [
      '2026-03-28T22:59:59.999Z',
      '2026-03-28T23:00:00Z',
      '2026-03-29T21:59:59Z',
      '2026-03-29T22:00:00Z',
    ]
    await putCalls(
      service.services,
      project.projectId,
      calls.map((createdAt, n) => ({ id: `${n}`, createdAt })),
    )
    await service.services.settings.change(project.projectId, { timeZone: 'Europe/Berlin' })
    expect(await keysOf(project, 'by=day')).toEqual(['2026-03-28 1', '2026-03-29 2', '2026-03-30 1'])
    expect(await keysOf(project, 'by=day&timeZone=UTC')).toEqual(['2026-03-28 2', '2026-03-29 2'])
    const period = 'from=2026-03-29T00:30:00Z&to=2026-03-29T02:00:00.001Z'
    expect(await keysOf(project, `by=hour&${period}`)).toEqual([
      '2026-03-29T00:00:00.000Z 0',
      '2026-03-29T01:00:00.000Z 0',
      '2026-03-29T02:00:00.000Z 0',
    ])
    expect(await keysOf(project, 'by=day&from=2026-03-29&to=2026-03-29')).toEqual([])
    expect(await keysOf(project, 'by=day&from=2026-04-01')).toEqual([])
  })

  test('have at most a thousand groups: of values the most frequent, of more days or hours none', async () => {
    const project = await service.mintProject()
    const day = 86_400_000
    const made = Array.from({ length: 1_002 }, (_, n) => ({
      id: `${n}`,
      createdAt: iso(n < 1_000 ? n * day : 0),
      endedReason: `r${n % 1_001}`,
      duration: n,
      status: 'completed' as const,
    }))
    await putCalls(service.services, project.projectId, made)
    for (const filter of ['', '&minDuration=0']) {
      const values = await keysOf(project, `by=endedReason${filter}`)
      expect([values.length, values[0]]).toEqual([1_000, 'r0 2'])
      expect(await keysOf(project, `by=day${filter}`)).toHaveLength(1_000)
      for (const more of [
        'by=hour',
        `by=day&to=${iso(1_000 * day + 1)}`,
        'by=day&from=1970-01-01&to=9999-12-31',
      ])
        await expectProblem(await project.fetch(`/v1/metrics?${more}${filter}`), 400, 'by')
      expect(await keysOf(project, `by=day&to=${iso(1_000 * day)}${filter}`)).toHaveLength(1_000)
    }
    await putCalls(service.services, project.projectId, [{ id: 'late', createdAt: '9999-12-31T23:00:00Z' }])
    await expectProblem(await project.fetch('/v1/metrics?by=day'), 400, 'by')
  })

  test('name the number that is asked for, with every digit', async () => {
    const project = await service.mintProject()
    const durations = [0.1 + 0.2, 1 / 3, 1e-7, 123_456.789_012_345_67, 2 ** 53 - 1, 5e-324]
    const calls = durations.map((duration, n) => ({ id: `${n}`, status: 'completed' as const, duration }))
    await putCalls(service.services, project.projectId, calls)
    for (const [n, duration] of durations.entries())
      for (const show of ['p50', 'p95', 'min', 'max', 'sum', 'avg']) {
        const query = `of=duration&show=${show}&minDuration=${duration}&maxDuration=${duration}`
        const { data } = await (await project.fetch(`/v1/metrics?${query}`)).json()
        expect([n, show, data]).toEqual([n, show, [{ key: null, value: duration, calls: 1 }]])
      }
  })

  test('are a table for who accepts CSV, with harmless cells', async () => {
    const project = await service.mintProject()
    await putCalls(service.services, project.projectId, [
      {
        id: 'a',
        endedReason: '=1+1, "x"',
        duration: 5,
        status: 'completed',
        createdAt: '2026-03-01T10:00:00Z',
      },
      { id: 'b', status: 'live', createdAt: '2026-03-02T10:00:00Z' },
    ])
    const table = async (query: string, accept = 'text/csv') => {
      const answer = await project.fetch(`/v1/metrics?${query}`, { headers: { accept } })
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      return Buffer.from(await answer.arrayBuffer()).toString()
    }
    expect(await table('')).toBe('key,value,calls\r\n,2,2\r\n')
    expect(await table('by=endedReason', 'application/json;q=0.5, text/csv;header=bom')).toBe(
      `\ufeffkey,value,calls\r\n"'=1+1, ""x""",1,1\r\nnone,1,1\r\n`,
    )
    expect(await table('of=duration&show=avg&by=day,endedReason')).toBe(
      `day,endedReason,value,calls\r\n2026-03-01,"'=1+1, ""x""",5,1\r\n2026-03-02,none,,1\r\n`,
    )
    const json = await project.fetch('/v1/metrics', { headers: { accept: '*/*' } })
    expect(json.headers.get('content-type')).toStartWith('application/json')
  })

  test('are of the project of the key alone', async () => {
    const [one, other] = [await service.mintProject(), await service.mintProject()]
    const label = { labels: ['l'], evaluation: null, note: null, by: null, at: iso(0) }
    await putCalls(service.services, one.projectId, [
      { id: 'a', evaluation: 'success', callAnalysis: { k: 1 } },
    ])
    await service.services.ingest.putAll(one.projectId, [{ id: 'a', change: {}, own: { review: label } }])
    for (const query of ['', 'by=label', 'by=analysis.k', 'by=day', 'by=evaluation&of=success', 'text=a'])
      expect((await (await other.fetch(`/v1/metrics?${query}`)).json()).total).toBe(0)
  })
})

describe('a request for figures', () => {
  test.each([
    ['of=calls&show=sum', 'show'],
    ['of=duration', 'show'],
    ['of=', 'of'],
    ['of=analysis.&show=sum', 'of'],
    ['of=criterion.', 'of'],
    ['of=toString', 'of'],
    ['by=', 'by'],
    ['by=analysis.', 'by'],
    ['by=status', 'by'],
    ['by=day&timeZone=Europe/Nowhere', 'timeZone'],
    ['timeZone=%2B02:00', 'timeZone'],
    ['status=dead', 'status'],
    ['from=yesterday', 'from'],
    ['analysis.k=', 'analysis.k'],
  ])('with %s is 400 and names the field', async (query, field) => {
    const project = await service.mintProject()
    await expectProblem(await project.fetch(`/v1/metrics?${query}`), 400, field)
  })

  test('is told of parameters that have no effect, as those of a page have none here', async () => {
    const project = await service.mintProject()
    const path = '/v1/metrics?limit=1&cursor=x&order=x&analysis.k=1&criterion.c=pass&group=day'
    const answer = await project.fetch(path)
    expect([answer.status, answer.headers.get('callbook-ignored')]).toEqual([
      200,
      'limit, cursor, order, group',
    ])
    expect((await project.fetch(path, { headers: { prefer: 'handling=strict' } })).status).toBe(400)
  })
})

async function expectProblem(answer: Response, status: number, field: string) {
  expect([
    answer.status,
    (await answer.json()).errors?.map((error: { field: string }) => error.field),
  ]).toEqual([status, [field]])
}

/** Each group's key and calls. */
async function keysOf(project: TestProject, query: string): Promise<string[]> {
  const { data } = await (await project.fetch(`/v1/metrics?${query}`)).json()
  return data.map(({ key, calls }: { key: string; calls: number }) => `${key} ${calls}`)
}

async function readCall(project: TestProject, id: string): Promise<KnownCall> {
  const read = async (path: string) => await (await project.fetch(`/v1/calls/${id}${path}`)).json()
  return { call: (await read('')) as Call, details: (await read('/details')) as CallDetails }
}

const toParameters = (query: Query, more: Record<string, string | null> = {}) => {
  const filters = Object.entries(query).map(([name, values]) => [
    name,
    name === 'text' ? values[0] : values.map(escapeValue).join(','),
  ])
  const others = Object.entries(more).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
  return new URLSearchParams([...filters, ...others] as [string, string][])
}

async function expectFigures(project: TestProject, known: KnownCall[], query: Query, asked: Asked) {
  const { of, show, by, timeZone } = asked
  const answer = await project.fetch(`/v1/metrics?${toParameters(query, asked)}`)
  const figures = await answer.json()
  const found = known.filter((call) => isListed(call, query))
  const groups = groupsOf(found, query, by, timeZone)
  if (groups.size > 1_000) {
    expect([answer.status, figures.errors?.[0].field]).toEqual([400, 'by'])
    return
  }
  const data = [...groups].map(([key, calls]) => ({
    key,
    value: shownOf(calls, of, show),
    calls: calls.length,
  }))
  if (by !== null && by !== 'day' && by !== 'hour')
    data.sort((a, b) => b.calls - a.calls || (String(a.key) < String(b.key) ? -1 : 1))
  expect(figures).toEqual({ of, show, by, data, total: found.length })
  // The list finds them too.
  for (const { key, calls } of data.slice(0, 2)) {
    if (by === null || by === 'day' || by === 'hour' || query[by]) continue
    const list = await project.fetch(
      `/v1/calls?${toParameters({ ...query, [by]: [String(key)] })}&limit=1000`,
    )
    expect([key, (await list.json()).data.length]).toEqual([key, calls])
  }
}

/** The calls of each group, in the order of times. */
function groupsOf(
  found: KnownCall[],
  query: Query,
  by: string | null,
  timeZone: string,
): Map<string | null, KnownCall[]> {
  if (by === null) return new Map([[null, found]])
  if (by === 'day' || by === 'hour') return timesOf(found, query, by, timeZone)
  const candidates = new Set(found.flatMap((call) => candidatesOf(call, by)))
  const all = [...candidates].map(
    (key) => [key, found.filter((call) => isListed(call, { [by]: [key] }))] as const,
  )
  return new Map(all.filter(([, calls]) => calls.length > 0))
}

/** Texts that might be the value of a group: every filter finds `none`, and none an empty text. */
function candidatesOf({ call, details }: KnownCall, by: string): string[] {
  const values: Record<string, unknown[]> = {
    agentId: [details.agent?.id, ...details.timeline.map(({ agentId }) => agentId)],
    source: [details.source],
    endedReason: [call.endedReason],
    evaluation: [evaluationOf({ call, details })],
    label: details.review?.labels ?? [],
  }
  const own = values[by] ?? [call.callAnalysis?.k]
  const texts = own.filter((value) => value !== null && value !== undefined && value !== '').map(String)
  return by in values ? ['none', ...texts] : texts
}

function timesOf(found: KnownCall[], query: Query, by: 'day' | 'hour', timeZone: string) {
  const times = found.map(({ call }) => Date.parse(call.createdAt))
  const groups = new Map<string, KnownCall[]>()
  const first = query.from ? Date.parse(query.from[0] ?? '') : Math.min(...times)
  const end = query.to ? Date.parse(query.to[0] ?? '') : Math.max(...times) + 1
  if (!query.from && times.length === 0) return groups
  const nameOf = namer(by, timeZone)
  for (let at = first; at < end; at += minuteMs) {
    const name = nameOf(at)
    if (!groups.has(name)) groups.set(name, [])
  }
  for (const one of found) {
    const name = nameOf(Date.parse(one.call.createdAt))
    groups.set(name, [...(groups.get(name) ?? []), one])
  }
  return groups
}

/** Asks the clock of each minute. An hour begins where its number, or the offset from UTC, was another a minute ago. */
function namer(by: 'day' | 'hour', timeZone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: by === 'day' ? 'short' : undefined,
    ...(by === 'hour'
      ? { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', timeZoneName: 'longOffset' }
      : {}),
  } as Intl.DateTimeFormatOptions)
  const starts = new Map<number, number>()
  const startOf = (at: number): number => {
    const before = at - minuteMs
    const start = starts.get(at) ?? (format.format(before) === format.format(at) ? startOf(before) : at)
    starts.set(at, start)
    return start
  }
  return (at) => (by === 'day' ? format.format(at) : iso(startOf(at)))
}
