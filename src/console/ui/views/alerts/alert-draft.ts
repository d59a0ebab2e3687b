import type { Preview } from '../../../../alerts/preview.ts'
import type { Alert, AlertChange, Limits } from '../../../../alerts/schemas.ts'
import { takesSeveral } from '../../../../calls/filters.ts'
import { splitValues } from '../../../../text/values.ts'
import { type ChosenFilters, oneOrMore, readFilters, valuesOf } from '../calls/chosen-filters.ts'
import type { ChartShow } from '../charts/chart-search.ts'
import type { OfferedDestination } from './alert-queries.ts'
import { type AlertSearch, watchedOf } from './alert-search.ts'

/** A rule as it is typed. Limits are in the unit in which they are shown: see `unitOf`. */
export interface AlertDraft {
  /** The proposed name, if it is blank. */
  name: string
  of: string
  /** A share of failures is stored as the share of successes, with limits turned round: see `ruleOf`. */
  show: ChartShow
  filters: ChosenFilters
  windowMinutes: number
  side: 'above' | 'below'
  warn: Typed
  /** Undefined until somebody has typed a limit: one is proposed. */
  alert: Typed | undefined
  minCalls: Typed
  noData: 'keep' | 'ok' | 'alert'
  repeatMinutes: number | null
  /** Ids of destinations that the project has. */
  chosen: string[]
  /** An address and a key that are new, as they are typed. */
  added: { [Kind in AddedKind]?: string }
  /** Whether nobody is to be told. It counts while there is no destination. */
  showOnly: boolean
}

/** A number, or what is typed before it is one. */
export type Typed = number | string

export type AddedKind = 'slack' | 'pagerDuty'

/** What a rule of these 95th percentiles begins with: the limits that voice agents are usually held to. */
const usualLimits: Record<string, Pick<AlertDraft, 'alert' | 'warn'>> = {
  responseMaxMs: { warn: 3_500, alert: 5_000 },
  deadAirSeconds: { warn: '', alert: 10 },
}

/** The windows that are proposed, in minutes. */
const usualWindows = [60, 1_440] as const
const longestWindow = 10_080
const minutesPerDay = 1_440
/** A window is proposed in which there are usually so many calls, and evaluated with half of them. */
const callsPerWindow = 10

/** @param callsPerDay that match the filters: of few calls, a share says something after a longer time */
export function newDraft(search: AlertSearch, callsPerDay: number): AlertDraft {
  const watched = watchedOf(search)
  const callsIn = (minutes: number) => (callsPerDay * minutes) / minutesPerDay
  const hasEnough = (minutes: number) => watched.of === 'calls' || callsIn(minutes) >= callsPerWindow
  const windowMinutes = usualWindows.find(hasEnough) ?? longestWindow
  return {
    ...watched,
    name: '',
    windowMinutes,
    warn: '',
    alert: undefined,
    ...(watched.show === 'p95' && usualLimits[watched.of]),
    minCalls: hasEnough(windowMinutes) ? callsPerWindow / 2 : 1,
    noData: 'keep',
    repeatMinutes: null,
    chosen: [],
    added: {},
    showOnly: false,
  }
}

/** @param offered the destinations of the project */
export function draftOf(rule: Alert, offered: readonly OfferedDestination[]): AlertDraft {
  const { factor } = unitOf(rule)
  const limits = rule.above ?? rule.below
  const typed = (limit: number | undefined) => (limit === undefined ? '' : rounded(limit * factor))
  return {
    ...watchedOf({ of: rule.of, show: rule.show }),
    name: rule.name,
    filters: chosenFilters(rule.filters),
    windowMinutes: rule.windowMinutes,
    side: rule.above ? 'above' : 'below',
    warn: typed(limits?.warn),
    alert: typed(limits?.alert),
    minCalls: rule.minCalls ?? 1,
    noData: rule.noData ?? 'keep',
    repeatMinutes: rule.repeatMinutes,
    chosen: idsOf(rule.to, offered),
    added: {},
    showOnly: rule.showOnly,
  }
}

/** The ids of a rule's destinations. Two of them may end in the same four characters. */
function idsOf(to: Alert['to'], offered: readonly OfferedDestination[]): string[] {
  const ids = new Set<string>()
  for (const { webhook, slack, pagerDuty } of to) {
    const shown = slack ?? pagerDuty
    const kind = slack === undefined ? 'pagerDuty' : 'slack'
    const isSame = (one: OfferedDestination) =>
      shown === undefined ? one.id === webhook : one.kind === kind && one.name === shown
    const found = offered.find((one) => isSame(one) && !ids.has(one.id))
    if (found) ids.add(found.id)
  }
  return [...ids]
}

/** The rule to store, without whether it is paused. @param limit of the draft, or the one that is proposed @param name if none is typed */
export function ruleOf(draft: AlertDraft, limit: number, name: string): AlertChange {
  const { of, show, windowMinutes, repeatMinutes } = draft
  const isRest = show === 'failed'
  const side = isRest ? otherSide[draft.side] : draft.side
  const { alert, warn } = limitsOf(draft, limit)
  const stored = (value: number) => (isRest ? rounded(1 - value) : value)
  const limits: Limits = { alert: stored(alert), ...(warn === undefined ? {} : { warn: stored(warn) }) }
  const isCount = of === 'calls'
  return {
    name: draft.name.trim() || name,
    filters: givenFilters(draft.filters),
    of,
    show: isRest ? 'share' : show,
    windowMinutes,
    [side]: limits,
    ...(isCount ? {} : { minCalls: numberOf(draft.minCalls) ?? 1, noData: draft.noData }),
    repeatMinutes,
    to: [
      ...draft.chosen.map((webhook) => ({ webhook })),
      ...Object.entries(draft.added).map(([kind, text]) => ({ [kind]: text.trim() })),
    ],
    showOnly: draft.showOnly && !hasDestination(draft),
  }
}

const otherSide = { above: 'below', below: 'above' } as const

/** The limits in the unit of the figure, of which the draft may show the rest. */
export function limitsOf(draft: AlertDraft, limit: number): { alert: number; warn?: number } {
  const { factor } = unitOf(draft)
  const warn = numberOf(draft.warn)
  return { alert: rounded(limit / factor), ...(warn === undefined ? {} : { warn: rounded(warn / factor) }) }
}

/** The values of a preview as the draft's figure has them. */
export function valuesSeen({ data }: Pick<Preview, 'data'>, { show }: Pick<AlertDraft, 'show'>) {
  return data.map(({ value }) => (value === null || show !== 'failed' ? value : 1 - value))
}

export function hasDestination({ chosen, added }: Pick<AlertDraft, 'chosen' | 'added'>): boolean {
  return chosen.length + Object.keys(added).length > 0
}

/** What is asked of a preview: a name and destinations change nothing in it. */
export function previewRule(draft: AlertDraft, limit: number): AlertChange {
  const { name: _, to: __, repeatMinutes: ___, showOnly: ____, ...rule } = ruleOf(draft, limit, '')
  return { name: 'Preview', ...rule }
}

/** Beyond every value, so that a preview of it says only what values there were. */
export function unreachableLimit({ side }: Pick<AlertDraft, 'side'>): number {
  return side === 'above' ? Number.MAX_VALUE : -Number.MAX_VALUE
}

/** How limits are typed: `factor` times the value. */
export function unitOf({ of, show }: { of: string; show: string }): {
  factor: number
  prefix?: string
  suffix?: string
} {
  if (show === 'share' || show === 'failed' || of === 'agentShare') return { factor: 100, suffix: '%' }
  if (of === 'costUsd') return { factor: 1, prefix: '$' }
  if (of.endsWith('Ms')) return { factor: 1, suffix: ' ms' }
  return of === 'duration' || of.endsWith('Seconds') ? { factor: 1, suffix: ' s' } : { factor: 1 }
}

/** The share of hours in which a proposed limit would have fired. */
const firingShare = 0.005

/**
 * A limit that only the most unusual hours of the last 30 days had crossed, in the unit in which it is typed; undefined
 * if no hour had a value.
 */
export function proposedLimit(preview: Preview, draft: AlertDraft): number | undefined {
  const isCount = draft.of === 'calls'
  const least = isCount ? 0 : (numberOf(draft.minCalls) ?? 1)
  const values = valuesSeen(preview, draft)
    .flatMap((value, at) => (value === null || (preview.data[at]?.calls ?? 0) < least ? [] : value))
    .sort((a, b) => a - b)
  const at = Math.floor(values.length * firingShare)
  const value = draft.side === 'above' ? values.at(-1 - at) : values[at]
  if (value === undefined) return undefined
  // Fewer than no calls are never there.
  if (isCount && draft.side === 'below') return Math.max(1, value)
  return outward(value * unitOf(draft).factor, draft.side)
}

/** To two digits, and not back over the value. */
function outward(value: number, side: AlertDraft['side']): number {
  if (value === 0) return 0
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1)
  const steps = rounded(value / step)
  return rounded((side === 'above' ? Math.ceil(steps) : Math.floor(steps)) * step)
}

/** @returns undefined for an empty field and for a text that is no number */
export function numberOf(typed: Typed | undefined): number | undefined {
  const number = typed === '' || typed === undefined ? Number.NaN : Number(typed)
  return Number.isFinite(number) ? number : undefined
}

/** Filters of a body as those of an address. */
export function chosenFilters(given: Record<string, unknown>): ChosenFilters {
  const texts = Object.entries(given).map(([name, value]) => [
    name,
    typeof value === 'string' && takesSeveral(name)
      ? oneOrMore(splitValues(value))
      : oneOrMore([value].flat().map(String)),
  ])
  return readFilters(Object.fromEntries(texts))
}

/** The reverse: lists, so that no comma divides a value. */
function givenFilters(chosen: ChosenFilters): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(chosen).map(([name, value]) => [name, takesSeveral(name) ? valuesOf(value) : value]),
  )
}

/** Without the digits that a multiplication adds. */
function rounded(value: number): number {
  return Number(value.toPrecision(12))
}
