import { type FilterName, noValue } from '../../../../calls/filters.ts'
import { catalog, frameworkLabels } from '../../../../sources/catalog.ts'
import { asMilliseconds } from '../../components/figures.ts'
import { asPhrase } from '../../components/phrase.ts'
import type { ChosenFilters } from './chosen-filters.ts'

/** What the console calls a filter. */
export const filterLabels: Record<FilterName, string> = {
  status: 'Status',
  evaluation: 'Evaluation',
  isEngaged: 'Engaged',
  from: 'Date',
  to: 'Date',
  completedFrom: 'Completed from',
  completedTo: 'Completed before',
  updatedFrom: 'Changed since',
  minDuration: 'Duration',
  maxDuration: 'Duration',
  number: 'Number',
  callerNumber: 'Caller',
  calledNumber: 'Called',
  endedReason: 'End reason',
  source: 'Source',
  agentId: 'Agent',
  agentVersion: 'Version',
  direction: 'Direction',
  label: 'Label',
  assignee: 'Assigned to',
  recording: 'Recording',
  sound: 'Sound',
  minResponseMs: 'Waited longest',
  maxResponseMs: 'Longest wait at most (ms)',
  minDeadAirSeconds: 'Dead air',
  minTalkOverSeconds: 'Talked over',
  minAgentShare: "Agent's share at least",
  maxAgentShare: "Agent's share at most",
  reviewed: 'Reviewed',
  flagged: 'Flagged',
  noted: 'Note',
  text: 'Search',
}

/** The answers to a criterion. */
export const verdictWords = { pass: 'Passed', fail: 'Failed', unknown: 'Unknown' }

const platformLabels = Object.fromEntries(Object.entries(catalog).map(([name, { label }]) => [name, label]))

const valueLabels: { [Name in FilterName]?: Record<string, string> } = {
  status: { live: 'Live', silent: 'Silent', completed: 'Completed' },
  evaluation: { success: 'Success', fail: 'Failed', [noValue]: 'Not evaluated' },
  endedReason: { [noValue]: 'No reason' },
  recording: {
    kept: 'Kept',
    waiting: 'Waiting',
    failed: 'Failed',
    expired: 'Expired',
    [noValue]: 'None',
  },
  sound: { waiting: 'Waiting', measured: 'Measured', unmeasured: 'Not measurable', [noValue]: 'None' },
  source: { ...platformLabels, ...frameworkLabels, [noValue]: 'No source' },
  agentId: { [noValue]: 'No agent' },
  agentVersion: { [noValue]: 'No version' },
  direction: { inbound: 'Inbound', outbound: 'Outbound', web: 'Web', [noValue]: 'Not known' },
  label: { [noValue]: 'No label' },
  assignee: { [noValue]: 'Nobody' },
  isEngaged: { true: 'Engaged', false: 'Not engaged', [noValue]: 'Not known' },
  reviewed: { true: 'Reviewed', false: 'Not reviewed' },
  flagged: { true: 'Has flagged turns', false: 'Has no flagged turns' },
  noted: { true: 'Has a note', false: 'Has no note' },
}

/** Filters by how long something was heard: the milliseconds of their unit, and the bounds that are offered. */
export const leastHeard: { [Name in FilterName]?: { unitMs: number; bounds: readonly number[] } } = {
  minResponseMs: { unitMs: 1, bounds: [2_000, 3_000, 5_000, 10_000] },
  minDeadAirSeconds: { unitMs: 1_000, bounds: [2, 5, 10, 30] },
  minTalkOverSeconds: { unitMs: 1_000, bounds: [1, 3, 10] },
}

/** What the console calls a value; identifiers of platforms as words, and any other value as it is. */
export function valueLabel(name: FilterName, value: string): string {
  const labels = valueLabels[name] ?? {}
  if (Object.hasOwn(labels, value) && labels[value]) return labels[value]
  const heard = leastHeard[name]
  if (heard) return `at least ${asMilliseconds(Number(value) * heard.unitMs)}`
  return name === 'endedReason' || name === 'evaluation' ? asPhrase(value) : value
}

/** A value that a filter offers. */
export interface Option {
  value: string
  label: string
  /** How many calls have it. */
  count?: number | undefined
}

/** What is counted for each option: the calls that the other filters leave. */
export interface Counted {
  name: FilterName
  filters: ChosenFilters
}

/** The values that a filter offers. */
export interface Choices {
  options: readonly Option[]
  counted?: Counted | undefined
  values: string[]
  /** Whether any of them can be chosen together. */
  isMany?: boolean | undefined
  onChoose: (values: string[]) => void
}
