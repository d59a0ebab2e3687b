import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createRandom } from '../../scripts/random.ts'
import { emptyDetails } from '../../src/calls/details.ts'
import type { groupings } from '../../src/calls/figures/figures-request.ts'
import { type measures, shows } from '../../src/calls/figures/measures.ts'
import type { FilterName } from '../../src/calls/filters.ts'
import type { Call, CallChange, CallDetails } from '../../src/calls/schemas.ts'
import { soundOf } from '../../src/calls/sound/call-sound.ts'
import type { Span, Speech } from '../../src/calls/sound/figures.ts'
import { toSpeechBytes } from '../../src/calls/sound/speech-bytes.ts'
import { escapeValue } from '../../src/text/values.ts'
import { startConsole } from '../support/console.ts'
import { startService } from '../support/service.ts'
import {
  evaluationOf,
  isFound,
  isListed,
  type KnownCall,
  metadataFound,
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
/** So many are counted by the API and by the console. */
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
  const inputs = made.slice(from, from + callsPerBatch).map(({ call, details, completedAt, speech }) => ({
    id: call.id,
    change: toChange(call, details, completedAt),
    own: {
      source: details.source,
      recording: details.recording,
      review: details.review,
      ...(speech && { speech: { bytes: toSpeechBytes(speech), callerChannel: null } }),
    },
  }))
  for (const result of await service.services.ingest.putAll(project.projectId, inputs))
    if (result instanceof Error) throw result
}
/** Newest first. */
const calls = newestFirst(made).map((known) => ({ ...known, said: wordsSaid(known.call) }))

/** A few values have most of the calls, as in a call centre, and others are rare. */
function makeCall(n: number): KnownCall & { completedAt: string | null; speech: Speech | null } {
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
    metadata: random() < 0.1 ? null : makeMetadata(),
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
  const speech = random() < 0.3 ? makeSpeech() : null
  const { timeline } = details
  if (speech)
    details.sound = soundOf(speech, {
      timeline,
      transcript: call.transcript,
      callerChannel: null,
      muted: null,
    })
  return { call, details, completedAt, speech }
}

/** Who speaks when, or nobody can tell. */
function makeSpeech(): Speech {
  if (random() < 0.2) return pick(['mono', 'noisy'])
  const speaker = () => {
    let at = 0
    return Array.from({ length: below(6) }, (): Span => {
      const from = at + 100 + 10 * below(40)
      at = from + 20 + 10 * below(40)
      return [from / 100, at / 100]
    })
  }
  return [speaker(), speaker()]
}

/** Some have more keys than they are found by, and members within members that look the same. */
function makeMetadata(): Record<string, unknown> {
  const tenant = pick(['acme', 'globex', `tenant-${below(40)}`, 'x'.repeat(101)])
  const tier = pick<unknown>([1, 2, 2.5, '2', 'two', true, 'true', null, [1], 0.1234567890123456])
  const many = random() < 0.05 ? Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`a${n}`, n])) : {}
  return { ...many, nested: { tenant: 'acme', tier: 1 }, tenant, tier, 'odd "key\\': pick(["it's", 'no']) }
}

function toChange(
  call: Call,
  { agent, direction, costUsd, latencyMs, timeline, metadata }: CallDetails,
  completedAt: string | null,
): CallChange {
  return {
    ...call,
    ...(completedAt === null ? {} : { occurredAt: completedAt }),
    details: { agent, direction, costUsd, latencyMs, timeline, metadata },
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
  sound: () => pick([['measured'], ['none'], ['unmeasured', 'waiting']]),
  minResponseMs: () => pick([['0'], ['1500'], ['9e9']]),
  maxResponseMs: () => pick([['700'], ['2000']]),
  minDeadAirSeconds: () => pick([['0'], ['2.5'], ['7']]),
  minTalkOverSeconds: () => pick([['0.5'], ['2']]),
  minAgentShare: () => pick([['0.5'], ['1']]),
  maxAgentShare: () => pick([['0'], ['0.45']]),
  reviewed: () => pick([['true'], ['false']]),
  flagged: () => pick([['true'], ['false']]),
  noted: () => pick([['true'], ['false']]),
  text: () =>
    pick([['voucher'], ['coupon'], ['zeppelin'], ['zeppelin voucher'], ['refund'], ['word12'], ['nothing']]),
  'analysis.intent': () => pick([['intent-0'], ['intent-24'], ['intent-5', 'intent-8']]),
  'analysis.score': () => pick([['1'], ['10', '2'], ['2.50']]),
  'metadata.tenant': () =>
    pick([['acme'], ['globex', 'tenant-7'], ['tenant-39'], ['x'.repeat(101)], ['nobody']]),
  'metadata.tier': () => pick([['2'], ['2.50'], ['true'], ['1', '2.5'], ['0.1234567890123456'], ['null']]),
  'metadata.a31': () => [['31']].flat(),
  'metadata.odd "key\\': () => pick([["it's"], ['no', "it's"]]),
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
    // As many as are counted, and one more.
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
  const counted = expected.length > totalMax ? null : expected.length
  expect([path, total, idsOf(data)]).toEqual([path, counted, expected.slice(0, 100)])
}

/** The keys of the groups that a call is in. */
const keysOf = {
  day: ({ call }, zone) => [dayIn(zone, call.createdAt)],
  hour: ({ call }) => [`${call.createdAt.slice(0, 13)}:00:00.000Z`],
  week: ({ call }, zone) => [mondayOf(dayIn(zone, call.createdAt))],
  month: ({ call }, zone) => [dayIn(zone, call.createdAt).slice(0, 7)],
  hourOfDay: ({ call }, zone) => [hourIn(zone, call.createdAt)],
  weekday: ({ call }, zone) => [String(weekdayOf(dayIn(zone, call.createdAt)))],
  duration: ({ call: { status, duration } }) =>
    status === 'completed' ? [String(lengths.findLast((from) => from <= duration))] : [],
  agentId: ({ details: { agent, timeline } }) =>
    orNone([agent?.id, ...timeline.map(({ agentId }) => agentId)]),
  agentVersion: ({ details }) => orNone([details.agent?.version]),
  direction: ({ details }) => orNone([details.direction]),
  source: ({ details }) => orNone([details.source]),
  endedReason: ({ call }) => orNone([call.endedReason]),
  evaluation: (known) => orNone([evaluationOf(known)]),
  isEngaged: ({ call }) => [String(call.isEngaged)],
  label: ({ details }) => orNone(details.review?.labels ?? []),
  'analysis.intent': ({ call }) => textsOf(call.callAnalysis?.intent),
  'analysis.score': ({ call }) => textsOf(call.callAnalysis?.score),
  'metadata.tenant': (known) => textsOf(metadataFound(known).tenant),
  'metadata.tier': (known) => textsOf(metadataFound(known).tier),
  'metadata.odd "key\\': (known) => textsOf(metadataFound(known)['odd "key\\']),
  'criterion.greeting': ({ details }) => textsOf(details.review?.criteria?.greeting),
} satisfies Record<
  (typeof groupings)[number] | `analysis.${string}` | `metadata.${string}` | `criterion.${string}`,
  (known: KnownCall, zone: string) => string[]
>

const formats = new Map(
  zones.map((timeZone) => [
    timeZone as string,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }),
  ]),
)
const dayIn = (zone: string, at: string) => formats.get(zone)?.format(new Date(at)) ?? ''
const hours = new Map(
  zones.map((timeZone) => [
    timeZone as string,
    new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', hourCycle: 'h23' }),
  ]),
)
const hourIn = (zone: string, at: string) => hours.get(zone)?.format(new Date(at)) ?? ''
const weekdayOf = (day: string) => new Date(day).getUTCDay() || 7
const mondayOf = (day: string) => iso(Date.parse(day) - (weekdayOf(day) - 1) * dayMs).slice(0, 10)
const lengths = [0, 10, 30, 60, 120, 180, 300, 600, 1_200, 1_800]
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
  responseMs: numbers,
  responseP95Ms: numbers,
  responseMaxMs: numbers,
  deadAirSeconds: numbers,
  talkOverSeconds: numbers,
  agentShare: numbers,
  interruptions: numbers,
  success: ['share'],
  isEngaged: ['share'],
  'analysis.score': numbers,
  'criterion.greeting': ['share'],
} satisfies Record<
  keyof typeof measures | `analysis.${string}` | `metadata.${string}` | `criterion.${string}`,
  readonly string[]
>

const measured: [string, readonly string[]][] = Object.entries(shownOfMeasure)
const groups: Record<string, (known: KnownCall, zone: string) => string[]> = keysOf
const ofTime = ['hour', 'day', 'week', 'month']
const groupsMax = 1_000

/** None, one or two ways to group, at most one of them of time. */
function someGroups(): string[] {
  const count = below(3)
  const by = new Set<string>()
  while (by.size < count) {
    const one = Object.keys(groups)[below(Object.keys(groups).length)] ?? ''
    if (!ofTime.includes(one) || !ofTime.some((other) => by.has(other))) by.add(one)
  }
  return [...by]
}

describe('figures of calls that filters find', () => {
  test('are those of a look at each call: groups, their order, their values, and the total', async () => {
    let finding = 0
    for (let n = 0; n < queriesCount; n++) {
      const by = someGroups()
      // A year has too many hours for one answer.
      const query = {
        ...someQuery(n),
        ...(by.includes('hour') ? { from: ['2025-03-28'], to: ['2025-04-03'] } : {}),
      }
      const found = foundBy(query)
      if (found.length > 0) finding++
      const [of, shown] = measured[below(measured.length)] ?? ['calls', ['count']]
      const timeZone = by.includes('hour') ? 'UTC' : pick(zones)
      const show = shown[below(shown.length)] ?? ''
      const own: Record<string, string> = by.length === 0 ? {} : { by: by.join(',') }
      await expectFigures(toParameters(query, { of, show, timeZone, ...own }), found, by)
    }
    expect(finding).toBeGreaterThan(queriesCount / 2)
  })
})

interface ShownFigure {
  key: string | null
  keys?: string[]
  value: number | null
  calls: number
}

/** The calls of each group, by its keys, in the order of the answer. */
function groupsOf(found: readonly OracleCall[], by: readonly string[], zone: string) {
  const sizes = new Map<string, number>()
  const made = new Map<string, { keys: string[]; those: OracleCall[] }>()
  for (const call of found) {
    const [firsts = [''], seconds = ['']] = by.map((one) => groups[one]?.(call, zone) ?? [])
    for (const first of firsts) {
      sizes.set(first, (sizes.get(first) ?? 0) + 1)
      for (const second of seconds) {
        const keys = [first, second].slice(0, by.length)
        const group = made.get(keys.join('\n')) ?? { keys, those: [] }
        group.those.push(call)
        made.set(keys.join('\n'), group)
      }
    }
  }
  /** The first grouping's own groups say in which order they come, the second one's within them. */
  const size = (at: number, { keys, those }: { keys: string[]; those: OracleCall[] }) =>
    at < by.length - 1 ? (sizes.get(keys[0] ?? '') ?? 0) : those.length
  return [...made.values()].sort((a, b) => {
    for (const [at, one] of by.entries()) {
      const [key, other] = [a.keys[at] ?? '', b.keys[at] ?? '']
      if (key === other) continue
      const isInOrder = [...ofTime, 'hourOfDay', 'weekday', 'duration'].includes(one)
      if (one === 'duration') return Number(key) - Number(other)
      return (isInOrder ? 0 : size(at, b) - size(at, a)) || (key < other ? -1 : 1)
    }
    return 0
  })
}

async function expectFigures(
  parameters: URLSearchParams,
  found: readonly OracleCall[],
  by: readonly string[],
): Promise<void> {
  const asked = String(parameters)
  const answer: { data: ShownFigure[]; total: number } = await read(`/v1/metrics?${parameters}`)
  const expected = groupsOf(found, by, parameters.get('timeZone') ?? '').slice(0, groupsMax)
  // Groups of time have no holes, and there is one group of all calls.
  const filled = answer.data.filter(({ calls }) => calls > 0)
  const keysIn = ({ key, keys }: ShownFigure) => keys ?? [key].filter((one) => one !== null)
  expect([asked, answer.total, filled.map((one) => [...keysIn(one), one.calls])]).toEqual([
    asked,
    found.length,
    expected.map(({ keys, those }) => [...keys, those.length]),
  ])
  for (const [at, { value }] of filled.entries()) {
    const { those = [], keys = [] } = expected[at] ?? {}
    const shown = shownOf(those, parameters.get('of') ?? '', parameters.get('show') ?? '')
    const isEqual =
      shown === null || value === null
        ? shown === value
        : Math.abs(value - shown) <= 1e-9 * Math.max(1, Math.abs(shown))
    expect([asked, keys, isEqual ? shown : value]).toEqual([asked, keys, shown])
  }
}

async function read(path: string) {
  const answer = await project.fetch(path)
  expect([path, answer.status]).toEqual([path, 200])
  return await answer.json()
}
