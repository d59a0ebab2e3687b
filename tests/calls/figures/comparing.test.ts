import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Comparing } from '../../../src/calls/figures/comparing/comparing.ts'
import { wilson, zOf } from '../../../src/calls/figures/comparing/intervals.ts'
import type { Comparison } from '../../../src/calls/figures/comparing/schemas.ts'
import type { CallChange } from '../../../src/calls/schemas.ts'
import { CommandLine } from '../../support/command-line.ts'
import { expectProblem } from '../../support/problem.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { putCalls } from '../put-calls.ts'

setDefaultTimeout(120_000)
const service = await startService()
const project = await service.mintProject()
const iso = (ms: number) => new Date(ms).toISOString()
const start = Date.UTC(2026, 2, 1)
const hourMs = 3_600_000

/** @param each of a call by its number */
function made(
  version: string,
  calls: number,
  each: (n: number) => CallChange & { latencyMs?: number; costUsd?: number },
) {
  return Array.from({ length: calls }, (_, n) => {
    const { latencyMs = null, costUsd = null, ...change } = each(n)
    const details = { agent: { id: 'desk', name: null, version }, latencyMs, costUsd }
    return { id: `${version}-${n}`, status: 'completed' as const, details, ...change }
  })
}

beforeAll(async () => {
  await putCalls(service.services, project.projectId, [
    // An hour apart, so that the first half of v2 is within the time of v1.
    ...made('v1', 200, (n) => ({
      createdAt: iso(start + n * hourMs),
      evaluation: n % 5 === 0 ? 'fail' : 'success',
      duration: 60 + (n % 7),
      latencyMs: 800 + (n % 100),
      costUsd: 0.1,
    })),
    ...made('v2', 200, (n) => ({
      createdAt: iso(start + (100 + n) * hourMs),
      evaluation: n % 2 === 0 ? 'fail' : 'success',
      duration: 90 + (n % 7),
      latencyMs: 1_100 + (n % 100),
      costUsd: 0.1,
    })),
    ...made('v3', 40, (n) => ({
      createdAt: iso(start + 300 * hourMs),
      evaluation: n % 4 === 0 ? 'fail' : 'success',
      latencyMs: n === 39 ? 90_000 : 800,
      costUsd: n === 0 ? 50 : 0.1,
    })),
    { ...made('v2', 1, () => ({}))[0], id: 'live', status: 'live' as const },
  ])
})

async function compare(query: string, from: TestProject = project): Promise<Comparison> {
  const answer = await from.fetch(`/v1/compare?${query}`)
  expect([query, answer.status]).toEqual([query, 200])
  return await answer.json()
}

async function countOf(query: string): Promise<number> {
  return (await (await project.fetch(`/v1/calls?${query}&limit=0`)).json()).pagination.total
}

const versions = 'by=agentVersion&against=v1'
const two = 'a.agentVersion=v1&b.agentVersion=v2'

describe('a comparison', () => {
  test('has each other value, the most calls first, and lists of exactly the calls that it counted', async () => {
    const { a, comparisons } = await compare(versions)
    expect(comparisons.map(({ key, b }) => [key, b.calls])).toEqual([
      ['v2', 200],
      ['v3', 40],
    ])
    for (const { query, url, calls, from, to } of [a, ...comparisons.map(({ b }) => b)]) {
      expect(await countOf(query)).toBe(calls)
      expect(url).toEndWith(`/console/p/${project.id}/calls?${query}`)
      const named = new URLSearchParams(query)
      expect([named.get('status'), named.get('from'), named.get('to')]).toEqual(['completed', from, to])
    }
    expect([a.calls, a.from, a.to]).toEqual([200, iso(start), iso(start + 199 * hourMs + 1)])
  })

  test('of the same calls is the same answer byte for byte, and the same by filters as by a value', async () => {
    const [first, again] = [
      await project.fetch(`/v1/compare?${two}`),
      await project.fetch(`/v1/compare?${two}`),
    ]
    expect(await first.text()).toBe(await again.text())
    const [byFilters] = (await compare(two)).comparisons
    const [byValue] = (await compare(`${versions}&to=${iso(start + 299.5 * hourMs)}`)).comparisons
    expect({ ...byFilters, key: 'v2' } as object).toEqual(byValue ?? {})
  })

  test('says what is better, worse, higher or lower, with the interval of the difference', async () => {
    const of = 'success,latencyMs.p50,latencyMs.avg,duration.avg,costUsd.avg,isEngaged'
    const [{ metrics = [], overlap, key } = {}] = (await compare(`${two}&of=${of}`)).comparisons
    expect([key, overlap]).toEqual([null, 0.5])
    expect(metrics.map(({ of, verdict, reason }) => [of, verdict, reason])).toEqual([
      ['success', 'worse', null],
      ['latencyMs.p50', 'worse', null],
      ['latencyMs.avg', 'worse', null],
      ['duration.avg', 'higher', null],
      ['costUsd.avg', 'not_sure', 'open'],
      ['isEngaged', 'not_sure', 'few'],
    ])
    const [success, median, , , cost, engaged] = metrics
    const [ofA, ofB] = [wilson(0.8, 200, zOf(0.95)), wilson(0.5, 200, zOf(0.95))]
    expect(success).toMatchObject({
      a: { value: 0.8, n: 200 },
      b: { value: 0.5, n: 200 },
      level: 0.95,
      moreCalls: null,
    })
    expect(success?.difference).toBeCloseTo(-0.3, 12)
    expect(success?.low).toBeCloseTo(-0.3 - Math.hypot(0.5 - ofB.low, ofA.high - 0.8), 12)
    expect(success?.high).toBeCloseTo(-0.3 + Math.hypot(ofB.high - 0.5, 0.8 - ofA.low), 12)
    expect(median).toMatchObject({ a: { value: 849 }, b: { value: 1_149 }, difference: 300 })
    // What is equal differs by nothing, and no number of calls changes that.
    expect(cost).toMatchObject({ difference: 0, low: 0, high: 0, moreCalls: null })
    expect(engaged).toMatchObject({ a: { value: null, n: 0 }, difference: null, low: null, high: null })
  })

  test('says of other groups the opposite', async () => {
    const [{ metrics = [] } = {}] = (
      await compare('b.agentVersion=v1&a.agentVersion=v2&of=success,latencyMs.p95,duration.p50')
    ).comparisons
    expect(metrics.map(({ verdict }) => verdict)).toEqual(['better', 'better', 'lower'])
  })

  test('says why it is not sure, and how many more calls it takes', async () => {
    const of = 'success,costUsd.avg,latencyMs.p95'
    const { comparisons } = await compare(`${versions}&of=${of}`)
    const { metrics = [], b } = comparisons.find(({ key }) => key === 'v3') ?? {}
    expect(metrics.map(({ reason }) => reason)).toEqual(['open', 'skewed', 'few'])
    const [{ difference, high, moreCalls, level }, ...others] = metrics as [
      Comparison['comparisons'][number]['metrics'][number],
    ]
    const z = zOf(level)
    const times = ((((high ?? 0) - (difference ?? 0)) / (difference ?? 0)) * ((z + 0.8416) / z)) ** 2 - 1
    expect(moreCalls).toBe(Number(((b?.calls ?? 0) * times).toPrecision(2)))
    for (const other of others) expect(other).toMatchObject({ low: null, high: null, moreCalls: null })
  })

  test('holds the first figure at 95 % over the groups, and all others together', async () => {
    const levels = async (query: string) =>
      (await compare(query)).comparisons.map(({ metrics }) => metrics.map(({ level }) => level))
    const [first = 0, second = 0] = [2, 4].map((m) => 1 - 0.05 / m)
    expect(await levels(`${two}&of=success`)).toEqual([[0.95]])
    expect(await levels(`${two}&of=success,latencyMs.p50,latencyMs.p95`)).toEqual([[0.95, first, first]])
    expect(await levels(`${versions}&of=success,latencyMs.p50,latencyMs.p95`)).toEqual([
      [first, second, second],
      [first, second, second],
    ])
  })

  test('is by default of what most ask: success, the criteria in force, latency and cost', async () => {
    const usual = async () => (await compare(two)).comparisons[0]?.metrics.map(({ of }) => of)
    const numbers = ['latencyMs.p50', 'latencyMs.p95', 'costUsd.avg']
    expect(await usual()).toEqual(['success', ...numbers])
    const ids = Array.from({ length: 6 }, (_, n) => `c${n}`)
    const criteria = ids.map((id) => ({ id, name: id, question: 'Did it?' }))
    await service.services.rubrics.put(project.projectId, {
      summary: null,
      criteria,
      fields: [],
      evaluation: null,
    })
    expect(await usual()).toEqual(['success', ...ids.slice(0, 5).map((id) => `criterion.${id}`), ...numbers])
  })

  test('of a group that finds nothing has no calls and no verdict', async () => {
    const { a, comparisons } = await compare('a.agentVersion=v1&b.agentVersion=v9&of=success')
    expect(a.calls).toBe(200)
    expect(comparisons[0]).toMatchObject({
      b: { calls: 0, from: null, to: null },
      overlap: null,
      metrics: [{ b: { value: null, n: 0 }, difference: null, verdict: 'not_sure', reason: 'few' }],
    })
    expect(await countOf(comparisons[0]?.b.query ?? '')).toBe(0)
  })

  test('is of the project of the key alone', async () => {
    const other = await service.mintProject()
    const { a, comparisons } = await compare(two, other)
    expect([a.calls, comparisons[0]?.b.calls]).toEqual([0, 0])
    const answer = await other.fetch(`/v1/compare?${versions}`)
    expect((await expectProblem(answer, 'invalid_request')).errors?.[0]?.field).toBe('against')
  })

  test('finds words and phrases of both groups', async () => {
    const said = await service.mintProject()
    const calls = ['late refund', 'refund today', 'nothing'].map((summary, n) => {
      return { id: `s${n}`, status: 'completed' as const, createdAt: iso(start + n), summary }
    })
    await putCalls(service.services, said.projectId, calls)
    const { a, comparisons } = await compare('a.text=%22late%20refund%22&b.text=today&of=success', said)
    expect([a.calls, comparisons[0]?.b.calls]).toEqual([1, 1])
    const answer = await said.fetch('/v1/compare?a.text=refund&b.text=today')
    expect((await expectProblem(answer, 'invalid_request')).errors).toEqual([
      { field: 'b', message: 'finds 1 of the calls that a finds' },
    ])
  })
})

describe('a request for a comparison', () => {
  test.each([
    ['', ['a', 'b']],
    ['a.agentVersion=v1', ['b']],
    ['a.agentVersion=v1&b.agentVersion=v1,v2', ['b']],
    ['a.agentVersion=v1&b.minDuration=0', ['b']],
    ['by=agentVersion', ['against']],
    ['by=agentVersion&by=agentVersion&against=v1', ['by']],
    ['against=v1', ['by']],
    ['by=direction&against=inbound', ['by']],
    ['by=agentVersion&against=v9', ['against']],
    [`${versions}&a.source=vapi`, ['a']],
    [`${versions}&agentVersion=v1`, ['agentVersion']],
    [`${two}&of=`, ['of']],
    [`${two}&of=calls.count`, ['of']],
    [`${two}&of=duration.sum`, ['of']],
    [`${two}&of=duration.p90`, ['of']],
    [`${two}&of=duration`, ['of']],
    [`${two}&of=success.share`, ['of']],
    [`${two}&of=metadata.n.avg`, ['of']],
    [`${two}&of=criterion.A`, ['of']],
    [`${two}&of=analysis..avg`, ['of']],
    [`${two}&of=${Array.from({ length: 21 }, (_, n) => `criterion.c${n}`)}`, ['of']],
    [`${two}&order=createdAt&cursor=x&fields=id`, ['cursor', 'order', 'fields']],
    [`${two}&from=x&a.to=y&b.nothing=1`, ['b.nothing', 'from', 'a.to']],
    [`${two}&source=vapi&a.source=retell`, ['a.source']],
    [`${two}&status=live`, ['status']],
    [`${two}&agent_id=1`, ['agent_id']],
  ])('with %s is 400 and names %j', async (query, fields) => {
    const { errors } = await expectProblem(await project.fetch(`/v1/compare?${query}`), 'invalid_request')
    expect(errors?.map(({ field }) => field)).toEqual(fields)
  })

  test('takes several figures with commas or as several parameters, and numbers of an analysis', async () => {
    const one = await compare(`${two}&of=success,analysis.a.b.avg`)
    expect(await compare(`${two}&of=success&of=analysis.a.b.avg`)).toEqual(one)
    expect(one.comparisons[0]?.metrics.map(({ of }) => of)).toEqual(['success', 'analysis.a.b.avg'])
  })

  test('is told how many calls two agents share', async () => {
    const shared = await service.mintProject()
    const timeline = [{ atSeconds: 1, kind: 'other' as const, agentId: 'second' }]
    await putCalls(service.services, shared.projectId, [
      { id: 'x', status: 'completed', details: { agent: { id: 'first', name: null }, timeline } },
      { id: 'y', status: 'completed', details: { agent: { id: 'second', name: null } } },
    ])
    const answer = await shared.fetch('/v1/compare?by=agentId&against=first')
    expect((await expectProblem(answer, 'invalid_request')).errors).toEqual([
      { field: 'by', message: 'finds 1 of the calls of first among those of second' },
    ])
  })

  test('is refused above 500,000 calls in a group', async () => {
    const group = {
      names: [],
      calls: 500_001,
      numbers: 0,
      sum: 0,
      least: 0,
      most: 0,
      percentiles: [],
      newest: 0,
    }
    const answer = { groups: [group], total: 0, first: 0, last: 0, isTooMany: false }
    const comparing = new Comparing(service.services.core, { figures: { askAll: async () => [answer] } })
    const read = comparing.read(project.projectId, { 'a.source': 'x', 'b.source': 'y' })
    expect(await read.catch(({ errors }) => errors)).toEqual([
      { field: 'a', message: 'finds more than 500000 calls' },
    ])
  })
})

test('callbook compare prints the answer of the API, and a line for each figure', async () => {
  const callbook = new CommandLine(service.dataDir)
  const of = ['compare', '--project', project.id, '--of', 'success,costUsd.avg']
  const { value } = await callbook.json([...of, '--by', 'agentVersion', '--against', 'v1'])
  const served = await compare(`${versions}&of=success,costUsd.avg`)
  expect(value).toEqual(JSON.parse(JSON.stringify(served)))
  const { out } = await callbook.run([
    ...of,
    '--a',
    'agentVersion=v1',
    '--b',
    'agentVersion=v2&minDuration=1',
  ])
  expect(out).toMatch(/^b \(200\) +success +0\.8 +0\.5 +-0\.3 +-0\.38\d+ +-0\.20\d+ +worse/m)
  expect(out).toMatch(/^b \(200\) +costUsd\.avg .* not sure: open/m)
  const { code, err } = await callbook.run([...of, '--a', 'agentVersion=v1'])
  expect([code, err]).toEqual([1, expect.stringContaining('b: needs a filter of its own')])
})
