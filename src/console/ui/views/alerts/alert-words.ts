import type { Alert } from '../../../../alerts/schemas.ts'
import { criterionPrefix, type FilterName, noValue, prefixOf, verdicts } from '../../../../calls/filters.ts'
import { counted, shortDuration } from '../../components/figures.ts'
import { type ChosenFilters, valuesOf } from '../calls/chosen-filters.ts'
import { filterLabels, valueLabel, verdictWords } from '../calls/filter-labels.ts'
import { formatOf, nameOfFigure } from '../charts/chart.ts'
import { type Chart, chartOf } from '../charts/chart-search.ts'

/** What people call what rules name by ids. */
export interface Names {
  criteria: ReadonlyMap<string, string>
  agents: ReadonlyMap<string, string>
}

const minuteMs = 60_000
const minutesPerHour = 60
const minutesPerDay = 1_440

/** `15 minutes`, `1 hour`, `7 days` */
export function minutesInWords(minutes: number): string {
  if (minutes % minutesPerDay === 0) return counted(minutes / minutesPerDay, 'day')
  if (minutes % minutesPerHour === 0) return counted(minutes / minutesPerHour, 'hour')
  return counted(minutes, 'minute')
}

/** How long something lasted, to the minute: `2h 5m`, at least `1m`; from two days on, `3 days`. */
export function lastedInWords(from: string, until: string | number): string {
  const ms = (typeof until === 'number' ? until : Date.parse(until)) - Date.parse(from)
  const days = Math.round(ms / minuteMs / minutesPerDay)
  if (days >= 2) return counted(days, 'day')
  return shortDuration(Math.max(1, Math.round(ms / minuteMs)) * (minuteMs / 1_000))
}

type Figure = Omit<Chart, 'by'>

/** A value of the figure: `87.5%`, `1.2 s`; a dash for none. */
export function valueInWords(figure: Figure, value: number | null): string {
  return value === null ? '–' : formatOf(figure).format(value)
}

/** `Success share below 80%`: the name that is proposed. @param limit null while there is none */
export function conditionInWords(
  figure: Figure,
  side: 'above' | 'below',
  limit: number | null,
  names: Pick<Names, 'criteria'>,
): string {
  return `${nameOfFigure(figure, names.criteria)} ${side} ${valueInWords(figure, limit)}`
}

/** `Success share below 80% in 1 hour, warning below 90%, of at least 20 calls` */
export function ruleInWords(rule: Alert, names: Pick<Names, 'criteria'>): string {
  const { chart: figure } = chartOf({ of: rule.of, show: rule.show })
  const side = rule.above ? 'above' : 'below'
  const limits = rule.above ?? rule.below
  const condition = conditionInWords(figure, side, limits?.alert ?? null, names)
  const warning = limits?.warn === undefined ? '' : `, warning ${side} ${valueInWords(figure, limits.warn)}`
  const least = (rule.minCalls ?? 1) > 1 ? `, of at least ${counted(rule.minCalls ?? 1, 'call')}` : ''
  return `${condition} in ${minutesInWords(rule.windowMinutes)}${warning}${least}`
}

/** `Agent: Front desk · Evaluation: Failed or Not evaluated`; empty without filters. */
export function filtersInWords(filters: ChosenFilters, names: Names): string {
  return Object.entries(filters)
    .map(([name, value]) => {
      const words = valuesOf(value).map((text) => valueInFilter(name, text, names))
      return `${filterName(name, names)}: ${words.join(' or ')}`
    })
    .join(' · ')
}

function filterName(name: string, { criteria }: Names): string {
  const prefix = prefixOf(name)
  if (name === 'minDuration' || name === 'maxDuration')
    return name === 'minDuration' ? 'Duration at least' : 'Duration at most'
  if (!prefix) return filterLabels[name as FilterName]
  const own = name.slice(prefix.length)
  return prefix === criterionPrefix ? (criteria.get(own) ?? own) : own
}

function valueInFilter(name: string, text: string, { agents }: Names): string {
  if (name === 'minDuration' || name === 'maxDuration') return `${text} s`
  if (name === 'agentId' && text !== noValue) return agents.get(text) ?? text
  const verdict = prefixOf(name) === criterionPrefix && verdicts.find((one) => one === text)
  if (verdict) return verdictWords[verdict]
  return prefixOf(name) ? text : valueLabel(name as FilterName, text)
}
