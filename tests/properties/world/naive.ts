import type { Chance } from '../../../scripts/torture/chance.ts'
import type { Call, CallDetails } from '../../../src/calls/schemas.ts'
import { isFound, wordsSaid } from '../../calls/finding/naive-find.ts'

/** A call as the service has answered it last, and its details. */
export interface KnownCall {
  call: Call
  details: CallDetails
}

export const evaluations = [null, 'success', 'fail', 'B'] as const
export const reasons = [null, 'hangup', 'silence', 'transfer'] as const
export const numbers = [
  null,
  '+4930123456',
  '0049 30 123456',
  '+49 (30) 123-456',
  '+49301234567',
  'anonymous',
  '100',
]
export const words = ['amber', 'birch', 'cobalt', 'drum', 'fjord', 'heron', 'quartz', 'zinc']
export const labels = ['urgent', 'refund', 'toString', '__proto__']
export const sources = ['vapi', 'retell']
export const agents = [null, { id: 'front', name: 'Front desk' }, { id: 'night', name: null }]
export const dayMs = 86_400_000
/** Times that many calls share; some are a day's first and last. */
export const times = [20_000, 20_001, 20_030].flatMap((day) =>
  [0, 1, dayMs - 1].map((ms) => new Date(day * dayMs + ms).toISOString()),
)

/** A person's evaluation takes precedence over the platform's. */
export const evaluationOf = ({ call, details }: KnownCall) => details.review?.evaluation ?? call.evaluation
const digits = (number: string) => number.replace(/[ +\-()./]/g, '')

export function newestFirst(calls: Iterable<KnownCall>): KnownCall[] {
  const key = ({ call }: KnownCall) => `${call.createdAt} ${call.id}`
  return [...calls].sort((a, b) => (key(a) < key(b) ? 1 : -1))
}

/** Whether two of the numbers above are equal. */
export function isSameNumber(a: string | null, b: string): boolean {
  const plain = (number: string) => number.replace(/\D/g, '').replace(/^00/, '')
  return a !== null && !a.includes('…') && plain(a) !== '' && plain(a) === plain(b)
}

type Filter = [value: string, meets: (known: KnownCall) => boolean]

const orNone = <Value>(value: Value | null) => value ?? 'none'

/** A filter of each kind, with what it means. */
const filters: Record<string, (chance: Chance) => Filter> = {
  status: (chance) => equal(chance.oneOf(['live', 'completed']), ({ call }) => call.status),
  evaluation: (chance) => equal(orNone(chance.oneOf(evaluations)), (known) => orNone(evaluationOf(known))),
  endedReason: (chance) => equal(orNone(chance.oneOf(reasons)), ({ call }) => orNone(call.endedReason)),
  isEngaged: (chance) => equal(chance.oneOf(['true', 'false']), ({ call }) => String(call.isEngaged)),
  source: (chance) => equal(chance.oneOf(sources), ({ details }) => details.source),
  agentId: (chance) => equal(chance.oneOf(['front', 'night', 'none']), ({ details }) => details.agent?.id),
  callerNumber: (chance) => equal(chance.oneOf(numbers) ?? '+1', ({ call }) => call.callerNumber),
  calledNumber: (chance) => equal(chance.oneOf(numbers) ?? '+1', ({ call }) => call.calledNumber),
  'analysis.kind': (chance) => equal(chance.oneOf(['1', 'x', 'true']), ({ call }) => analysisOf(call)),
  number: (chance) => {
    const asked = chance.oneOf(['49', '3456', '100', '4567']) ?? ''
    const meets = (number: string | null) =>
      number !== null && (digits(number).startsWith(asked) || digits(number).endsWith(asked))
    return [asked, ({ call }) => meets(call.callerNumber) || meets(call.calledNumber)]
  },
  label: (chance) => {
    const label = chance.oneOf(labels) ?? ''
    return [label, ({ details }) => details.review?.labels.includes(label) ?? false]
  },
  reviewed: (chance) => mark(chance, ({ details }) => details.review?.reviewed ?? false),
  noted: (chance) => mark(chance, ({ details }) => typeof details.review?.note === 'string'),
  flagged: (chance) => mark(chance, ({ details }) => (details.review?.flaggedTurns ?? []).length > 0),
  from: (chance) => {
    const time = chance.oneOf(times) ?? ''
    return [time, ({ call }) => call.createdAt >= time]
  },
  to: (chance) => {
    const time = chance.oneOf(times) ?? ''
    return [time, ({ call }) => call.createdAt < time]
  },
  updatedFrom: (chance) => {
    const time = chance.oneOf(times) ?? ''
    return [time, ({ call }) => call.updatedAt >= time]
  },
  minDuration: (chance) => {
    const least = chance.between(0, 60)
    return [String(least), ({ call }) => call.duration >= least]
  },
  maxDuration: (chance) => {
    const most = chance.between(0, 60)
    return [String(most), ({ call }) => call.duration <= most]
  },
  text: (chance) => {
    const text = Array.from({ length: chance.between(1, 2) }, () => chance.oneOf(words)).join(' ')
    return [text, ({ call }) => isFound(wordsSaid(call), text)]
  },
}

function equal(value: string | undefined, of: (known: KnownCall) => unknown): Filter {
  return [value ?? '', (known) => of(known) === value]
}

function mark(chance: Chance, has: (known: KnownCall) => boolean): Filter {
  const wanted = chance.happens(0.5)
  return [String(wanted), (known) => has(known) === wanted]
}

function analysisOf(call: Call): string | undefined {
  const kind = call.callAnalysis?.kind
  return kind === undefined ? undefined : String(kind)
}

/** A combination of filters, and which calls match it. */
export function chooseFilters(chance: Chance): { query: URLSearchParams; meets: Filter[1] } {
  const names = Object.keys(filters)
  const query = new URLSearchParams()
  const all: Filter[1][] = []
  for (let left = chance.between(0, 3); left > 0; left--) {
    const name = chance.oneOf(names) ?? ''
    const [value, meets] = filters[name]?.(chance) ?? ['', () => true]
    if (query.has(name)) continue
    query.set(name, value)
    all.push(meets)
  }
  return { query, meets: (known) => all.every((meets) => meets(known)) }
}

/** How often each value occurs, the most frequent first. */
export function countsOf(values: readonly (string | null)[]): { value: string; calls: number }[] {
  const counts = new Map<string, number>()
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  const all = [...counts].map(([value, calls]) => ({ value, calls }))
  return all.sort((a, b) => b.calls - a.calls || (a.value < b.value ? -1 : 1))
}
