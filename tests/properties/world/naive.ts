import type { Chance } from '../../../scripts/torture/chance.ts'

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

/** Whether two of the numbers above are equal. */
export function isSameNumber(a: string | null, b: string): boolean {
  const plain = (number: string) => number.replace(/\D/g, '').replace(/^00/, '')
  return a !== null && !a.includes('…') && plain(a) !== '' && plain(a) === plain(b)
}

/** Values of each filter. */
const filters: Record<string, (chance: Chance) => string | null | undefined> = {
  status: (chance) => chance.oneOf(['live', 'completed']),
  evaluation: (chance) => chance.oneOf(evaluations),
  endedReason: (chance) => chance.oneOf(reasons),
  isEngaged: (chance) => chance.oneOf(['true', 'false']),
  source: (chance) => chance.oneOf(sources),
  agentId: (chance) => chance.oneOf(['front', 'night', 'none']),
  callerNumber: (chance) => chance.oneOf(numbers) ?? '+1',
  calledNumber: (chance) => chance.oneOf(numbers) ?? '+1',
  'analysis.kind': (chance) => chance.oneOf(['1', 'x', 'true']),
  number: (chance) => chance.oneOf(['49', '3456', '100', '4567']),
  label: (chance) => chance.oneOf(labels),
  reviewed: (chance) => chance.oneOf(['true', 'false']),
  noted: (chance) => chance.oneOf(['true', 'false']),
  flagged: (chance) => chance.oneOf(['true', 'false']),
  from: (chance) => chance.oneOf(times),
  to: (chance) => chance.oneOf(times),
  updatedFrom: (chance) => chance.oneOf(times),
  minDuration: (chance) => String(chance.between(0, 60)),
  maxDuration: (chance) => String(chance.between(0, 60)),
  text: (chance) => Array.from({ length: chance.between(1, 2) }, () => chance.oneOf(words)).join(' '),
}

/** Up to three filters, each with one value. */
export function chooseFilters(chance: Chance): Record<string, string> {
  const names = Object.keys(filters)
  const chosen = Array.from({ length: chance.between(0, 3) }, () => chance.oneOf(names) ?? '')
  return Object.fromEntries(chosen.map((name) => [name, filters[name]?.(chance) ?? 'none']))
}

/** How often each value occurs, the most frequent first. */
export function countsOf(values: readonly (string | null)[]): { value: string; calls: number }[] {
  const counts = new Map<string, number>()
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  const all = [...counts].map(([value, calls]) => ({ value, calls }))
  return all.sort((a, b) => b.calls - a.calls || (a.value < b.value ? -1 : 1))
}
