import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createRandom } from '../../scripts/random.ts'
import { emptyDetails } from '../../src/calls/details.ts'
import type { groupings } from '../../src/calls/figures/figures-request.ts'
import { type measures, shows } from '../../src/calls/figures/measures.ts'
import type { FilterName } from '../../src/calls/filters.ts'
import type { Call, CallChange, CallDetails } from '../../src/calls/schemas.ts'
import { escapeValue } from '../../src/text/values.ts'
import { startConsole } from '../support/console.ts'
import { startService } from '../support/service.ts'
import {
  evaluationOf,
  isFound,
  isListed,
  type KnownCall,
  newestFirst,
  type Said,
  shownOf,
  wordsSaid,
} from './rules.ts'

// Random searches and figures over 20,000 calls, against a look at each call in an array. Where a filter, a way to
// group or a measure is new, this file does not compile until it is here too.

setDefaultTimeout(240_000)
const callsCount = 20_000
const callsPerBatch = 1_000
/** Of searches, and of figures. Each filter is asked for alone first. */
const queriesCount = Number(process.env.ORACLE_RUNS ?? 70)
const pagesMax = 3
/** So many are counted by the API, and by the console where words are searched for. */
const totalMax = 10_000
/** Longer lists are followed page by page alone. */
const exportedMax = 2_000
const firstAt = Date.UTC(2025, 0, 1)
const dayMs = 86_400_000
const hourMs = 3_600_000
const yearMs = 365 * dayMs
const seed = 20_261_128
const labels = ['billing', 'urgent', 'a, b']
const zones = ['UTC', 'Europe/Berlin', 'America/New_York'] as const

const random = createRandom(seed)
const below = (end: number) => Math.floor(random() * end)
const pick = <Value>(values: readonly [Value, ...Value[]]): Value => values[below(values.length)] ?? values[0]
const iso = (time: number) => new Date(time).toISOString()
/** A time of the year. Some are dates. */
const time = () =>
  pick([iso(firstAt + below(365) * dayMs).slice(0, 10), iso(firstAt + below(365 * 24) * hourMs)])

/** When a call was completed, so that it lies on the bound. */
const completion = () => calls[below(calls.length)]?.completedAt ?? time()

interface OracleCall extends KnownCall {
  said: Said
}

const emptyEntry = {
  atSeconds: 1,
  kind: 'other' as const,
  turn: null,
  name: null,
  text: null,
  interrupted: false,
  latencyMs: null,
}

const service = await startService()
const console = await startConsole(service)
const owner = console.owner
const project = await console.mintProject()
const made = Array.from({ length: callsCount }, (_, n) => makeCall(n))
for (let from = 0; from < made.length; from += callsPerBatch) {
  const inputs = made.slice(from, from + callsPerBatch).map(({ call, details, completedAt }) => ({
    id: call.id,
    change: toChange(call, details, completedAt),
    own: { source: details.source, recording: details.recording, review: details.review },
  }))
  for (const result of await service.services.ingest.putAll(project.projectId, inputs))
    if (result instanceof Error) throw result
}
/** Newest first. */
const calls = newestFirst(made).map((known) => ({ ...known, said: wordsSaid(known.call) }))

/** A few values have most of the calls, as in a call centre, and others are rare. */
function makeCall(n: number): KnownCall & { completedAt: string | null } {
  const isLive = random() < 0.02
  // Times and durations are round, so that calls lie on the bounds that are asked for, and ids decide between them.
  const createdAt = firstAt + Math.floor((n * yearMs) / callsCount / hourMs) * hourMs
  const duration = random() < 0.5 ? 30 * below(21) : Math.round(random() * random() * 60_000) / 100
  const completedAt = isLive ? null : iso(createdAt + Math.round(duration * 1_000))
  const agent = `agent-${random() < 0.6 ? below(5) : below(60)}`
  const isReviewed = random() < 0.1
  const words = Array.from({ length: 4 }, () => `word${below(300)}`)
  if (n % 2 === 0) words.push('voucher')
  if (n <= totalMax) words.push('coupon')
  if (random() < 0.002) words.push('zeppelin')
  const call: Call = {
    // Not in the order of time.
    id: `call-${(Math.imul(n, 0x9e3779b1) >>> 0).toString(16)}`,
    status: isLive ? 'live' : 'completed',
    duration,
    summary: random() < 0.2 ? 'Asked about refunds' : null,
    evaluation: isLive ? null : pick(['success', 'success', 'success', 'fail', null, 'B, partly']),
    isEngaged: random() < 0.8,
    endedReason:
      random() < 0.02 ? `error-${below(30)}` : pick(['customer', 'customer', 'agent', 'silence', null]),
    callerNumber: random() < 0.02 ? null : `+1555${String(below(400) * 19 + 1_000_000)}`,
    calledNumber: `+1800555${below(20) * 37 + 1_000}`,
    callAnalysis:
      random() < 0.05 ? null : { intent: `intent-${below(25)}`, score: pick([1, 2, 2.5, 10, '10']) },
    transcript: [{ role: 'user', content: words.join(' ') }],
    createdAt: iso(createdAt),
    updatedAt: iso(createdAt + below(60) * dayMs),
  }
  const details: CallDetails = {
    ...emptyDetails,
    metadata: null,
    source: pick(['vapi', 'vapi', 'vapi', 'retell', 'bland', null]),
    agent:
      random() < 0.05 ? null : { id: agent, name: null, version: pick([null, 'v1', 'v2', `v${below(40)}`]) },
    direction: pick(['inbound', 'inbound', 'outbound', 'web', null]),
    costUsd: random() < 0.05 ? null : below(400) / 100,
    latencyMs: random() < 0.05 ? null : 300.5 + below(1_500),
    timeline: random() < 0.03 ? [{ ...emptyEntry, agentId: `agent-${below(60)}` }] : [],
    recording: {
      ...emptyDetails.recording,
      state: pick(['none', 'none', 'kept', 'waiting', 'failed', 'expired']),
    },
    review: isReviewed
      ? {
          evaluation: pick([null, 'success', 'fail']),
          note: pick([null, 'A note.']),
          labels: labels.filter(() => random() < 0.3),
          reviewed: random() < 0.7,
          flaggedTurns: random() < 0.2 ? [0] : [],
          criteria: random() < 0.8 ? { greeting: pick(['pass', 'pass', 'fail']) } : {},
          assignee: pick([null, 'Ada', 'Lin, B']),
          by: null,
          at: iso(createdAt),
        }
      : null,
  }
  return { call, details, completedAt }
}

function toChange(
  call: Call,
  { agent, direction, costUsd, latencyMs, timeline }: CallDetails,
  completedAt: string | null,
): CallChange {
  return {
    ...call,
    ...(completedAt === null ? {} : { occurredAt: completedAt }),
    details: { agent, direction, costUsd, latencyMs, timeline },
  }
}

/** Of each filter some values, rare and common ones, some that no call has. */
const filters = {
  status: () => pick([['live'], ['completed'], ['live', 'completed']]),
  evaluation: () => pick([['success'], ['fail', 'none'], ['B, partly'], ['nothing']]),
  isEngaged: () => pick([['true'], ['false'], ['true', 'false']]),
  from: () => [time()],
  to: () => [time()],
  completedFrom: () => [completion()],
  completedTo: () => [completion()],
  updatedFrom: () => [time()],
  minDuration: () => pick([['60'], ['600'], ['0']]),
  maxDuration: () => pick([['0'], ['30'], ['120']]),
  number: () => pick([['1800555'], ['15551'], ['18005551037'], ['19'], ['99999']]),
  callerNumber: () => pick([['+15551000019'], ['+15551000000', '+15551000038'], ['+1']]),
  calledNumber: () => pick([['+18005551037'], ['+18005551000', '+18005551074']]),
  endedReason: () => pick([['silence'], ['error-3'], ['none'], ['customer', 'error-1']]),
  source: () => pick([['vapi'], ['retell'], ['none', 'bland']]),
  agentId: () => pick([['agent-1'], ['agent-47'], ['agent-4', 'agent-50'], ['none'], ['nobody']]),
  agentVersion: () => pick([['v1'], ['v37'], ['v2', 'none'], ['none'], ['V1']]),
  direction: () => pick([['inbound'], ['web', 'none'], ['outbound', 'web'], ['none']]),
  label: () => pick([['billing'], ['none'], ['a, b', 'urgent'], ['none', 'urgent']]),
  assignee: () => pick([['Ada'], ['none'], ['Lin, B', 'none']]),
  recording: () => pick([['kept'], ['none'], ['waiting', 'failed', 'expired']]),
  reviewed: () => pick([['true'], ['false']]),
  flagged: () => pick([['true'], ['false']]),
  noted: () => pick([['true'], ['false']]),
  text: () =>
    pick([['voucher'], ['coupon'], ['zeppelin'], ['zeppelin voucher'], ['refund'], ['word12'], ['nothing']]),
  'analysis.intent': () => pick([['intent-0'], ['intent-24'], ['intent-5', 'intent-8']]),
  'analysis.score': () => pick([['1'], ['10', '2'], ['2.50']]),
  'criterion.greeting': () => pick([['pass'], ['fail'], ['pass', 'fail']]),
} satisfies Record<FilterName, () => string[]> & Record<string, () => string[]>

type Query = Record<string, string[]>

/** Each filter alone, one after the other, and then one to four of them. */
function someQuery(n: number): Query {
  const all = Object.entries(filters)
  const names = new Set<string>()
  for (const count = n < all.length ? 1 : 1 + below(4); names.size < count; )
    names.add(all[n < all.length ? n : below(all.length)]?.[0] ?? '')
  return Object.fromEntries(all.flatMap(([name, choose]) => (names.has(name) ? [[name, choose()]] : [])))
}

function foundBy({ text: texts, ...query }: Query): OracleCall[] {
  const [text] = texts ?? []
  const times = asTimes(query)
  return calls.filter((call) => isListed(call, times) && (text === undefined || isFound(call.said, text)))
}

/** A date is its midnight. */
function asTimes(query: Query): Query {
  const isDate = (value: string) => /^\d{4}-\d\d-\d\d$/.test(value)
  return Object.fromEntries(
    Object.entries(query).map(([name, values]) => [
      name,
      values.map((value) => (isDate(value) ? iso(Date.parse(value)) : value)),
    ]),
  )
}

function toParameters(query: Query, more: Record<string, string> = {}): URLSearchParams {
  const written = Object.entries(query).map(([name, values]) => [name, values.map(escapeValue).join(',')])
  return new URLSearchParams([...written, ...Object.entries(more)] as [string, string][])
}

const idsOf = (some: readonly { id: string }[]) => some.map(({ id }) => id)
const callsOf = (some: readonly KnownCall[]) => idsOf(some.map(({ call }) => call))

describe('calls that filters find', () => {
  test('are those of a look at each: page by page, in order, counted, exported and in the console', async () => {
    let finding = 0
    for (let n = 0; n < queriesCount; n++) {
      const query = someQuery(n)
      const found = foundBy(query)
      if (found.length > 0) finding++
      const isOldestFirst = random() < 0.5
      const expected = callsOf(isOldestFirst ? found.toReversed() : found)
      const order: Record<string, string> = isOldestFirst ? { order: 'createdAt' } : {}
      await expectPages(query, order, expected)
      if (found.length <= exportedMax) await expectExport(query, order, expected)
      await expectConsole(query, order, expected)
    }
    // As many as are counted by words, and one more.
    for (const text of ['voucher', 'coupon']) {
      const expected = callsOf(foundBy({ text: [text] }))
      expect(expected.length - totalMax).toBe(text === 'voucher' ? 0 : 1)
      await expectPages({ text: [text] }, {}, expected)
      await expectConsole({ text: [text] }, {}, expected)
    }
    // Searches that find nothing would agree with anything.
    expect(finding).toBeGreaterThan(queriesCount / 2)
  })
})

async function expectPages(query: Query, order: Record<string, string>, expected: string[]): Promise<void> {
  const limit = pick([1, 7, 100, 1_000])
  const parameters = toParameters(query, { ...order, limit: String(limit), fields: 'id' })
  for (let page = 0; page < pagesMax; page++) {
    const { data, pagination } = await read(`/v1/calls?${parameters}`)
    const end = (page + 1) * limit
    expect([String(parameters), idsOf(data)]).toEqual([String(parameters), expected.slice(page * limit, end)])
    const { total, totalIsCapped = false, next } = pagination
    const counted = [Math.min(expected.length, totalMax), expected.length > totalMax, end < expected.length]
    expect([String(parameters), total, totalIsCapped, next !== null]).toEqual([
      String(parameters),
      ...counted,
    ])
    if (next === null) return
    parameters.set('cursor', next)
  }
}

async function expectExport(query: Query, order: Record<string, string>, expected: string[]): Promise<void> {
  const path = `/v1/calls?${toParameters(query, { ...order, fields: 'id' })}`
  const answer = await project.fetch(path, { headers: { accept: 'application/x-ndjson' } })
  const lines = (await answer.text()).split('\n').filter(Boolean)
  expect([path, lines.map((line) => JSON.parse(line).id)]).toEqual([path, expected])
}

async function expectConsole(query: Query, order: Record<string, string>, expected: string[]): Promise<void> {
  const path = `/projects/${project.id}/calls?${toParameters(query, { ...order, limit: '100' })}`
  const { data, total } = await (await owner.fetch(path)).json()
  const counted = query.text && expected.length > totalMax ? null : expected.length
  expect([path, total, idsOf(data)]).toEqual([path, counted, expected.slice(0, 100)])
}

/** The keys of the groups that a call is in. */
const keysOf = {
  day: ({ call }, zone) => [dayIn(zone, call.createdAt)],
  hour: ({ call }) => [`${call.createdAt.slice(0, 13)}:00:00.000Z`],
  agentId: ({ details: { agent, timeline } }) =>
    orNone([agent?.id, ...timeline.map(({ agentId }) => agentId)]),
  agentVersion: ({ details }) => orNone([details.agent?.version]),
  direction: ({ details }) => orNone([details.direction]),
  source: ({ details }) => orNone([details.source]),
  endedReason: ({ call }) => orNone([call.endedReason]),
  evaluation: (known) => orNone([evaluationOf(known)]),
  label: ({ details }) => orNone(details.review?.labels ?? []),
  'analysis.intent': ({ call }) => textsOf(call.callAnalysis?.intent),
  'analysis.score': ({ call }) => textsOf(call.callAnalysis?.score),
} satisfies Record<
  (typeof groupings)[number] | `analysis.${string}`,
  (known: KnownCall, zone: string) => string[]
>

const formats = new Map(
  zones.map((timeZone) => [
    timeZone as string,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }),
  ]),
)
const dayIn = (zone: string, at: string) => formats.get(zone)?.format(new Date(at)) ?? ''
const textsOf = (value: unknown) => (value === undefined ? [] : [String(value)])
const orNone = (values: readonly (string | null | undefined)[]) => {
  const own = new Set(values.filter((value) => value !== null && value !== undefined))
  return own.size === 0 ? ['none'] : [...own]
}

const numbers = shows.filter((show) => show !== 'count' && show !== 'share')
/** Of each measure what can be shown. */
const shownOfMeasure = {
  calls: ['count'],
  duration: numbers,
  costUsd: numbers,
  latencyMs: numbers,
  success: ['share'],
  'analysis.score': numbers,
  'criterion.greeting': ['share'],
} satisfies Record<keyof typeof measures | `analysis.${string}` | `criterion.${string}`, readonly string[]>

const measured: [string, readonly string[]][] = Object.entries(shownOfMeasure)
const ways = [null, ...Object.keys(keysOf)]

describe('figures of calls that filters find', () => {
  test('are those of a look at each call: groups, their order, their values, and the total', async () => {
    let finding = 0
    for (let n = 0; n < queriesCount; n++) {
      const by = ways[below(ways.length)] ?? null
      // A year has too many hours for one answer.
      const query = {
        ...someQuery(n),
        ...(by === 'hour' ? { from: ['2025-03-28'], to: ['2025-04-03'] } : {}),
      }
      const found = foundBy(query)
      if (found.length > 0) finding++
      const [of, shown] = measured[below(measured.length)] ?? ['calls', ['count']]
      const timeZone = by === 'day' ? pick(zones) : 'UTC'
      const show = shown[below(shown.length)] ?? ''
      const parameters = toParameters(query, { of, show, timeZone, ...(by === null ? {} : { by }) })
      await expectFigures(parameters, found, by)
    }
    expect(finding).toBeGreaterThan(queriesCount / 2)
  })
})

async function expectFigures(
  parameters: URLSearchParams,
  found: readonly OracleCall[],
  by: string | null,
): Promise<void> {
  const asked = String(parameters)
  const zone = parameters.get('timeZone') ?? ''
  const {
    data,
    total,
  }: { data: { key: string | null; value: number | null; calls: number }[]; total: number } = await read(
    `/v1/metrics?${parameters}`,
  )
  const groups = new Map<string | null, OracleCall[]>(by === null ? [[null, [...found]]] : [])
  const keys: Record<string, (known: KnownCall, zone: string) => string[]> = keysOf
  for (const call of by === null ? [] : found) {
    for (const key of keys[by ?? '']?.(call, zone) ?? []) {
      const those = groups.get(key) ?? []
      those.push(call)
      groups.set(key, those)
    }
  }
  const isByTime = by === 'day' || by === 'hour'
  const inOrder = [...groups].sort(([a, those], [b, others]) =>
    isByTime || those.length === others.length
      ? String(a) < String(b)
        ? -1
        : 1
      : others.length - those.length,
  )
  // Groups of time have no holes.
  const filled = isByTime ? data.filter(({ calls }) => calls > 0) : data
  expect([asked, total, filled.map(({ key, calls }) => [key, calls])]).toEqual([
    asked,
    found.length,
    inOrder.map(([key, those]) => [key, those.length]),
  ])
  for (const { key, value } of filled) {
    const expected = shownOf(groups.get(key) ?? [], parameters.get('of') ?? '', parameters.get('show') ?? '')
    if (expected === null || value === null) expect([asked, key, value]).toEqual([asked, key, expected])
    else
      expect([asked, key, Math.abs(value - expected) <= 1e-9 * Math.max(1, Math.abs(expected))]).toEqual([
        asked,
        key,
        true,
      ])
  }
}

async function read(path: string) {
  const answer = await project.fetch(path)
  expect([path, answer.status]).toEqual([path, 200])
  return await answer.json()
}
