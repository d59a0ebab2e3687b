import type { calls } from '../db/schema.ts'

type Column = keyof typeof calls.$inferSelect

type FilterDefinition = { name: string } & (
  | { kind: 'choice'; column: Column; choices: readonly string[] }
  /** Any text, or `none` for null. The values in use are suggested. With `more`, `calls.value_list` has further ones. */
  | { kind: 'value'; column: Column; more?: true }
  /** What people gave a call, or `none`: any of its labels, or the person who is to review it. */
  | { kind: 'given' }
  /** A value that `calls.value_list` has under the filter's name, or `none`. Without choices, those in use are suggested. */
  | { kind: 'listed'; choices?: readonly string[] }
  /** `none` is where it is not known. */
  | { kind: 'flag'; column: Column; choices: readonly ['true', 'false', 'none'] }
  /** Whether a person's review has the mark. */
  | { kind: 'mark'; choices: typeof trueOrFalse }
  /** ISO 8601 times or dates: at or after, and before. */
  | { kind: 'since' | 'before'; column: Column }
  /** Numbers of at least, and of at most. */
  | { kind: 'least' | 'most'; column: Column }
  /** A phone number exactly as it is stored. */
  | { kind: 'exact'; column: Column; digits: Column }
  /** The digits that one of the numbers begins or ends with. */
  | { kind: 'digits' }
  /** Words of the transcript or the summary. */
  | { kind: 'words' }
)

const trueOrFalse = ['true', 'false'] as const

/**
 * The filters of a list of calls, in the order the console offers them. The query's parser, the SQL, the facets, the
 * OpenAPI document, the command line's options and the console's address and form are all made from this list, so the
 * page imports this file too. Beside them there are `analysis.KEY`, `metadata.KEY` and `criterion.ID`.
 */
export const callFilters = [
  { name: 'status', kind: 'choice', column: 'status', choices: ['live', 'completed'] },
  { name: 'evaluation', kind: 'value', column: 'evaluation' },
  { name: 'isEngaged', kind: 'flag', column: 'isEngaged', choices: ['true', 'false', 'none'] },
  { name: 'from', kind: 'since', column: 'createdAt' },
  { name: 'to', kind: 'before', column: 'createdAt' },
  { name: 'completedFrom', kind: 'since', column: 'completedAt' },
  { name: 'completedTo', kind: 'before', column: 'completedAt' },
  { name: 'updatedFrom', kind: 'since', column: 'updatedAt' },
  { name: 'minDuration', kind: 'least', column: 'duration' },
  { name: 'maxDuration', kind: 'most', column: 'duration' },
  { name: 'number', kind: 'digits' },
  { name: 'callerNumber', kind: 'exact', column: 'callerNumber', digits: 'callerDigits' },
  { name: 'calledNumber', kind: 'exact', column: 'calledNumber', digits: 'calledDigits' },
  { name: 'endedReason', kind: 'value', column: 'endedReason' },
  { name: 'source', kind: 'value', column: 'source' },
  { name: 'agentId', kind: 'value', column: 'agentId', more: true },
  { name: 'agentVersion', kind: 'listed' },
  { name: 'direction', kind: 'listed', choices: ['inbound', 'outbound', 'web', 'none'] },
  { name: 'label', kind: 'given' },
  { name: 'assignee', kind: 'given' },
  { name: 'recording', kind: 'listed', choices: ['none', 'waiting', 'kept', 'failed', 'expired'] },
  { name: 'sound', kind: 'listed', choices: ['none', 'waiting', 'measured', 'unmeasured'] },
  { name: 'minResponseMs', kind: 'least', column: 'responseMaxMs' },
  { name: 'maxResponseMs', kind: 'most', column: 'responseMaxMs' },
  { name: 'minDeadAirSeconds', kind: 'least', column: 'deadAirSeconds' },
  { name: 'minTalkOverSeconds', kind: 'least', column: 'talkOverSeconds' },
  { name: 'minAgentShare', kind: 'least', column: 'agentShare' },
  { name: 'maxAgentShare', kind: 'most', column: 'agentShare' },
  { name: 'reviewed', kind: 'mark', choices: trueOrFalse },
  { name: 'flagged', kind: 'mark', choices: trueOrFalse },
  { name: 'noted', kind: 'mark', choices: trueOrFalse },
  { name: 'text', kind: 'words' },
] as const satisfies readonly FilterDefinition[]

export type CallFilter = (typeof callFilters)[number]
export type FilterName = CallFilter['name']
/** A filter that suggests the values in use. */
export type ValueFilter = Extract<CallFilter, { kind: 'value' }>
const single: readonly CallFilter['kind'][] = ['since', 'before', 'least', 'most', 'digits', 'words']

/** Whether any of several values of a filter can match. Other filters have one value. */
export function takesSeveral(name: string): boolean {
  const filter = callFilters.find((each) => each.name === name)
  return filter ? !single.includes(filter.kind) : prefixOf(name) !== undefined
}

/** The text that filters by value and label take for none. */
export const noValue = 'none'

/** Seconds at which a group of durations begins, after the first one, which begins at 0. */
export const durationBounds = [10, 30, 60, 120, 180, 300, 600, 1_200, 1_800]

/** Prefix of the name of a member of `callAnalysis`. */
export const analysisPrefix = 'analysis.'
/** Prefix of the id of a criterion of the project's rubric. */
export const criterionPrefix = 'criterion.'
/** Prefix of the name of a member of a call's metadata. */
export const metadataPrefix = 'metadata.'
export const verdicts = ['pass', 'fail', 'unknown'] as const

const prefixes = [analysisPrefix, criterionPrefix, metadataPrefix] as const

/** The names of all filters; a `KEY` stands for any name. */
export const filterNames: readonly string[] = [
  ...callFilters.map(({ name }) => name),
  ...prefixes.map((prefix) => `${prefix}KEY`),
]

/** The prefix of a filter that names something of the project's own; undefined for any other filter. */
export function prefixOf(name: string): (typeof prefixes)[number] | undefined {
  return prefixes.find((prefix) => name.startsWith(prefix))
}
