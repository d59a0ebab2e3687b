import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { fillWithCalls } from '../../../scripts/bench/many-calls.ts'
import { createRandom } from '../../../scripts/random.ts'
import { startService, type TestService } from '../../support/service.ts'

setDefaultTimeout(240_000)
const callsCount = 20_000
const queriesCount = 300
const figuresCount = 150

interface Row {
  seq: number
  id: string
  created_at: number
  updated_at: number
  completed_at: number | null
  status: string
  evaluation: string | null
  is_engaged: number
  duration: number
  caller_number: string
  called_number: string
  ended_reason: string | null
  source: string | null
  agent_id: string
  cost_usd: number | null
  latency_ms: number | null
  value_list: string
  document: string
  values: Set<string>
  words: Set<string>
}

const folder = mkdtempSync(join(tmpdir(), 'callbook-oracle-'))
let service: TestService
let key: string
let rows: Row[]

beforeAll(async () => {
  ;({ key } = await fillWithCalls(folder, callsCount))
  service = await startService({ dataDir: folder })
  const read = await service.services.database.read.all<Row>(
    sql`select calls.*, document from calls join call_documents using (seq)`,
  )
  rows = read.map((row) => {
    const contents = row.document.match(/"content":"[^"]*"/g)?.join(' ') ?? ''
    return {
      ...row,
      values: new Set(JSON.parse(row.value_list) as string[]),
      words: new Set(contents.match(/[a-z]+/g)),
    }
  })
  // Newest first.
  rows.sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1))
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const next = createRandom(7)
const pick = <Value>(...values: Value[]): Value => values[Math.floor(next() * values.length)] as Value
const time = () => new Date(Date.UTC(2025, 0, 1) + Math.floor(next() * 365 * 24) * 3_600_000).toISOString()

type Meets = (row: Row, values: string[]) => boolean
const isAny = (value: string | null, values: string[]) => values.includes(value ?? 'none')
const digits = (number: string) => number.replace(/\D/g, '')
/** Of each filter some values, rare and common ones, and what it means. */
const filters: Record<string, [() => string[], Meets]> = {
  status: [
    () => pick(['live'], ['completed'], ['live', 'completed']),
    (row, values) => values.includes(row.status),
  ],
  evaluation: [
    () => pick(['success'], ['fail', 'none'], ['B, partly'], ['zzz']),
    (row, values) => isAny(row.evaluation, values),
  ],
  endedReason: [
    () => pick(['silence'], ['error-3'], ['none'], ['customer-ended-call', 'error-1']),
    (row, values) => isAny(row.ended_reason, values),
  ],
  isEngaged: [
    () => pick(['true'], ['false']),
    (row, values) => values.includes(row.is_engaged ? 'true' : 'false'),
  ],
  source: [() => pick(['vapi'], ['retell'], ['none', 'bland']), (row, values) => isAny(row.source, values)],
  agentId: [
    () => pick(['agent-1'], ['agent-47'], ['agent-4', 'agent-50'], ['zzz']),
    (row, values) =>
      values.some((value) => row.agent_id === value || row.values.has(`["otherAgentId","${value}"]`)),
  ],
  label: [
    () => pick(['billing'], ['none'], ['billing', 'urgent'], ['none', 'urgent']),
    ({ values: own }, values) =>
      values.some((value) =>
        value === 'none'
          ? ![...own].some((each) => each.startsWith('["label"'))
          : own.has(`["label","${value}"]`),
      ),
  ],
  reviewed: [
    () => pick(['true'], ['false']),
    ({ values: own }, values) => values.includes(String(own.has('["reviewed",true]'))),
  ],
  'analysis.intent': [
    () => pick(['intent-0'], ['intent-24'], ['intent-5', 'intent-8']),
    ({ values: own }, values) => values.some((value) => own.has(`["analysis.intent","${value}"]`)),
  ],
  'analysis.score': [
    () => pick(['1'], ['10', '2'], ['3.0']),
    ({ values: own }, values) => values.some((value) => own.has(`["analysis.score",${Number(value)}]`)),
  ],
  'criterion.greeting': [
    () => pick(['pass'], ['fail'], ['unknown', 'fail']),
    ({ values: own }, values) => values.some((value) => own.has(`["criterion.greeting","${value}"]`)),
  ],
  from: [() => [time()], (row, [at = '']) => row.created_at >= Date.parse(at)],
  to: [() => [time()], (row, [at = '']) => row.created_at < Date.parse(at)],
  completedFrom: [
    () => [time()],
    (row, [at = '']) => row.completed_at !== null && row.completed_at >= Date.parse(at),
  ],
  completedTo: [
    () => [time()],
    (row, [at = '']) => row.completed_at !== null && row.completed_at < Date.parse(at),
  ],
  updatedFrom: [() => [time()], (row, [at = '']) => row.updated_at >= Date.parse(at)],
  minDuration: [() => pick(['60'], ['590'], ['599.5']), (row, [least]) => row.duration >= Number(least)],
  maxDuration: [() => pick(['0'], ['30'], ['120.5']), (row, [most]) => row.duration <= Number(most)],
  number: [
    () => pick(['1800555'], ['15551'], ['8005551037'], ['19'], ['99999']),
    (row, [asked = '']) =>
      [row.caller_number, row.called_number].some(
        (own) => digits(own).startsWith(asked) || digits(own).endsWith(asked),
      ),
  ],
  calledNumber: [
    () => pick(['+18005551037'], ['+18005551000', '+18005551074']),
    (row, values) => values.includes(row.called_number),
  ],
  text: [
    () => pick(['voucher'], ['zeppelin'], ['zeppelin voucher'], ['zzz']),
    ({ words }, [text = '']) => text.split(' ').every((word) => words.has(word)),
  ],
}

function chooseQuery(): [URLSearchParams, Row[]] {
  const names = new Set<string>()
  for (let most = 1 + Math.floor(next() * 4); names.size < most; ) names.add(pick(...Object.keys(filters)))
  const parameters = new URLSearchParams()
  let found = rows
  for (const name of names) {
    const [choose, meets] = filters[name] ?? [() => [], () => true]
    const values = choose()
    parameters.set(name, values.map((value) => value.replaceAll(',', '\\,')).join(','))
    found = found.filter((row) => meets(row, values))
  }
  return [parameters, found]
}

async function get(path: string) {
  const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } })
  return await answer.json()
}

test('pages, totals and cursors are those of a look at each of 20,000 calls', async () => {
  for (let n = 0; n < queriesCount; n++) {
    const [parameters, newestFirst] = chooseQuery()
    const isOldestFirst = next() < 0.5
    if (isOldestFirst) parameters.set('order', 'createdAt')
    const found = isOldestFirst ? newestFirst.toReversed() : newestFirst
    const limit = pick(1, 7, 100, 1_000)
    parameters.set('limit', String(limit))
    parameters.set('fields', 'id')
    for (let [page, at] = [0, 0]; page < 3; page++) {
      const { data, pagination } = await get(`/v1/calls?${parameters}`)
      const expected = found.slice(at, at + limit)
      const query = decodeURIComponent(String(parameters))
      expect([query, data.map(({ id }: { id: string }) => id)]).toEqual([query, expected.map(({ id }) => id)])
      expect([query, pagination.total, pagination.totalIsCapped]).toEqual([
        query,
        Math.min(found.length, 10_000),
        found.length > 10_000,
      ])
      at += limit
      if (pagination.next === null) {
        expect(at).toBeGreaterThanOrEqual(found.length)
        break
      }
      parameters.set('cursor', pagination.next)
    }
  }
})

const numbers: Record<string, (row: Row) => number | null> = {
  duration: ({ status, duration }) => (status === 'completed' ? duration : null),
  costUsd: ({ cost_usd }) => cost_usd,
  latencyMs: ({ latency_ms }) => latency_ms,
  'analysis.score': ({ values }) => {
    const [score] = [...values].filter((value) => value.startsWith('["analysis.score"'))
    return score === undefined ? null : JSON.parse(score)[1]
  },
}
const underOf = (name: string) => (row: Row) =>
  [...row.values]
    .filter((value) => value.startsWith(`["${name}"`))
    .map((value) => String(JSON.parse(value)[1]))
const keys: Record<string, (row: Row) => string[]> = {
  day: ({ created_at }) => [new Date(created_at).toISOString().slice(0, 10)],
  month: ({ created_at }) => [new Date(created_at).toISOString().slice(0, 7)],
  source: ({ source }) => [source ?? 'none'],
  endedReason: ({ ended_reason }) => [ended_reason ?? 'none'],
  evaluation: ({ evaluation }) => [evaluation ?? 'none'],
  agentId: (row) => [...new Set([row.agent_id, ...underOf('otherAgentId')(row)])],
  'analysis.intent': underOf('analysis.intent'),
  'criterion.tone': underOf('criterion.tone'),
}

test('figures are those of a look at each of 20,000 calls', async () => {
  for (let n = 0; n < figuresCount; n++) {
    const [parameters, found] = chooseQuery()
    const of = pick(...Object.keys(numbers))
    const show = pick('sum', 'avg', 'min', 'max', 'p50', 'p90', 'p95', 'p99')
    const by = pick(
      [],
      ['day'],
      ['month'],
      ['source'],
      ['agentId'],
      ['analysis.intent'],
      ['day', 'evaluation'],
      ['endedReason', 'source'],
      ['criterion.tone', 'month'],
    )
    for (const [name, value] of Object.entries({ of, show, by: by.join(',') }))
      if (value) parameters.set(name, value)
    const answer = await get(`/v1/metrics?${parameters}`)
    const groups = new Map<string, Row[]>()
    const [first, second] = by.map((name) => keys[name] ?? (() => []))
    for (const row of found)
      for (const a of first?.(row) ?? [''])
        for (const b of second?.(row) ?? ['']) {
          const name = [a, b].slice(0, by.length).join(' ')
          groups.set(name, [...(groups.get(name) ?? []), row])
        }
    const query = decodeURIComponent(String(parameters))
    expect([query, answer.total]).toEqual([query, found.length])
    const filled = answer.data.filter(({ calls }: { calls: number }) => calls > 0)
    expect([query, filled.length]).toEqual([query, Math.min(groups.size, 1_000)])
    for (const { key: one, keys: several, value, calls } of filled.slice(0, 40)) {
      const group = groups.get((several ?? [one ?? '']).join(' ')) ?? []
      expect([query, one, calls]).toEqual([query, one, group.length])
      const expected = shownOf(
        group.flatMap((row) => numbers[of]?.(row) ?? []),
        show,
      )
      if (expected === null) expect([query, value]).toEqual([query, null])
      else expect(value).toBeCloseTo(expected, 6)
    }
  }
})

function shownOf(all: number[], show: string): number | null {
  const sorted = all.toSorted((a, b) => a - b)
  if (sorted.length === 0) return null
  const sum = sorted.reduce((before, number) => before + number, 0)
  if (show === 'sum') return sum
  if (show === 'avg') return sum / sorted.length
  if (show === 'min') return sorted[0] ?? null
  if (show === 'max') return sorted.at(-1) ?? null
  return sorted[Math.ceil((Number(show.slice(1)) * sorted.length) / 100) - 1] ?? null
}
