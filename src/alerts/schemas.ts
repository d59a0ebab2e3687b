import { type Static, Type } from '@sinclair/typebox'
import type { FieldError } from '../errors.ts'
import { named, plainNamePattern } from '../validation.ts'

const windowMinutesMax = 10_080
const callsMax = 1_000_000
const destinationsMax = 10
/** What one of a rule's addresses and keys may have. */
const destinationCharsMax = 2_000

const time = Type.String({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' })
const Value = Type.Unsafe<number | null>({ type: 'number', nullable: true, example: 0.31 })

const Limits = named(
  'AlertLimits',
  {
    warn: Type.Optional(Type.Number({ description: 'Beyond it, the state is `warning`.', example: 0.1 })),
    alert: Type.Number({ description: 'Beyond it, the state is `alert`.', example: 0.2 }),
  },
  { description: 'Exactly one of `above` and `below` is there. The limits themselves are still `ok`.' },
)

const Destination = named(
  'AlertDestination',
  {
    webhook: Type.Optional(
      Type.String({ description: 'The id of a webhook of the project.', maxLength: 100 }),
    ),
    slack: Type.Optional(
      Type.String({
        maxLength: destinationCharsMax,
        description: 'The address of an incoming webhook of Slack. Shown by its last four characters.',
        example: '…Wz4q',
      }),
    ),
    pagerDuty: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'An integration key of Events API v2. Shown by its last four characters.',
        example: '…90ab',
      }),
    ),
  },
  { description: 'Has exactly one member. What was shown of an address or a key means the same one.' },
)
export type Destination = Static<typeof Destination>

const rule = {
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    format: 'name',
    'x-documented': { pattern: plainNamePattern },
    example: 'Bookings fail',
  }),
  filters: Type.Unsafe<Record<string, unknown>>({
    title: 'AlertFilters',
    type: 'object',
    additionalProperties: true,
    description:
      'The filters of `GET /v1/calls`, without `from`, `to`, `completedFrom`, `completedTo` and `text`.',
    example: { agentId: 'booking' },
  }),
  of: Type.String({ maxLength: 500, description: 'As in `GET /v1/metrics`.', example: 'success' }),
  show: Type.String({ maxLength: 20, description: 'As in `GET /v1/metrics`.', example: 'share' }),
  windowMinutes: Type.Integer({
    minimum: 5,
    maximum: windowMinutesMax,
    description:
      'The calls that were created in the last minutes count, or were completed in them if `of` is not `calls`.',
    example: 60,
  }),
  above: Type.Optional(Limits),
  below: Type.Optional(Limits),
  minCalls: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: callsMax,
      description: 'With fewer calls there is no data; by default 1. Not if `of` is `calls`.',
      example: 20,
    }),
  ),
  noData: Type.Optional(
    Type.Unsafe<'keep' | 'ok' | 'alert'>({
      type: 'string',
      enum: ['keep', 'ok', 'alert'],
      description: 'The state without data: by default `keep`, the one before. Not if `of` is `calls`.',
    }),
  ),
  repeatMinutes: Type.Unsafe<number | null>({
    type: 'integer',
    minimum: 1,
    maximum: windowMinutesMax,
    nullable: true,
    description: 'How often it is sent again until the state is `ok`. By default never.',
    example: 240,
  }),
  to: Type.Array(Destination, {
    maxItems: destinationsMax,
    description: 'Who is told of each change of the state.',
  }),
  showOnly: Type.Boolean({
    description: 'Whether it tells nobody: `true` if `to` is empty, and only then. By default `false`.',
  }),
  paused: Type.Boolean({ description: 'Whether it is not evaluated.' }),
}

const { name, windowMinutes, ...others } = rule
/** A rule as it is sent. */
export const AlertChange = Type.Composite(
  [Type.Object({ name, windowMinutes }), Type.Partial(Type.Object(others))],
  {
    title: 'AlertChange',
    example: {
      name: 'Bookings fail',
      filters: { agentId: 'booking' },
      of: 'success',
      show: 'share',
      windowMinutes: 60,
      below: { warn: 0.9, alert: 0.8 },
      minCalls: 20,
      showOnly: true,
    },
  },
)
export type AlertChange = Static<typeof AlertChange>

/** A rule and its state. */
export const Alert = named('Alert', {
  id: Type.String({ example: 'alr_019a5f0c2b7e7cc0a1d2e3f405162738' }),
  ...rule,
  state: Type.Unsafe<AlertState>({
    type: 'string',
    enum: ['ok', 'warning', 'alert', 'no_data'],
    description: '`no_data` until `minCalls` were first there.',
  }),
  since: Type.String({ ...time, description: 'When the state began.' }),
  value: { ...Value, description: 'The figure of the window. null if no call has a value.' },
  calls: Type.Integer({ minimum: 0, description: 'How many calls the window has.', example: 42 }),
})
export type Alert = Static<typeof Alert>
export const AlertList = named('AlertList', { data: Type.Array(Alert) })

/** Which changes the console asks for. */
export const ChangesRequest = Type.Object({
  alert: Type.Optional(Type.String({ maxLength: 100 })),
  /** The `next` of an earlier page. */
  before: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
})
export const PausedAlert = named('PausedAlert', { paused: Type.Boolean() })

export type AlertState = 'ok' | 'warning' | 'alert' | 'no_data'
/** A rule as it is stored: all that was left out has its default. Its destinations are stored apart. */
export type Rule = Omit<
  Alert,
  'id' | 'to' | 'showOnly' | 'paused' | 'state' | 'since' | 'value' | 'calls'
> & {
  /** Missing in a rule of an older version. */
  showOnly?: boolean
}
export type Limits = Static<typeof Limits>

/** What is sent of a change, and kept of it. Without a name: generators of Go leave out what no path refers to. */
export const AlertMessage = Type.Object({
  id: Alert.properties.id,
  name: Type.String(),
  state: Alert.properties.state,
  value: Value,
  limit: { ...Value, description: 'The limit that was crossed. null without data.', example: 0.2 },
  calls: Type.Integer({ minimum: 0, description: 'How many calls were counted.', example: 42 }),
  from: Type.String({ ...time, description: 'Calls from then on.' }),
  to: Type.String({ ...time, description: 'And before then.' }),
  url: Type.String({ description: 'Opens exactly these calls in the console.' }),
  test: Type.Optional(Type.Literal(true, { description: 'Of a message that only tries the destinations.' })),
})
export type AlertMessage = Static<typeof AlertMessage>

/** What no schema says of a rule. */
export function alertErrors({
  name,
  of = 'calls',
  above,
  below,
  minCalls,
  noData,
  to = [],
  showOnly = false,
}: Partial<AlertChange>): FieldError[] {
  const errors: FieldError[] = []
  const check = (isWrong: boolean | undefined, field: string, message: string) => {
    if (isWrong) errors.push({ field, message })
  }
  check(name?.trim() === '', 'name', 'must not be blank')
  check(to.length === 0 && !showOnly, 'to', 'must have an entry, unless showOnly is true')
  check(to.length > 0 && showOnly, 'showOnly', 'must be false for an alert with destinations')
  check((above === undefined) === (below === undefined), 'above', 'or below must be there, and not both')
  check(above?.warn !== undefined && above.warn >= above.alert, 'above.warn', 'must be less than alert')
  check(below?.warn !== undefined && below.warn <= below.alert, 'below.warn', 'must be more than alert')
  const isCount = of === 'calls'
  check(isCount && minCalls !== undefined, 'minCalls', 'has no meaning for the number of calls: none are 0')
  check(isCount && noData !== undefined, 'noData', 'has no meaning for the number of calls: none are 0')
  for (const [at, destination] of to.entries())
    check(
      Object.keys(destination).filter((name) => name in Destination.properties).length !== 1,
      `to.${at}`,
      'must have exactly one of webhook, slack and pagerDuty',
    )
  return errors
}

/** Returns the rule with the defaults of what was left out. */
export function completeRule({ name, windowMinutes, above, below, ...change }: AlertChange): Rule {
  const of = change.of ?? 'calls'
  const ofFigures = { minCalls: change.minCalls ?? 1, noData: change.noData ?? 'keep' }
  return {
    name,
    filters: change.filters ?? {},
    of,
    show: change.show ?? defaultShow(of),
    windowMinutes,
    ...(above && { above }),
    ...(below && { below }),
    ...(of === 'calls' ? {} : ofFigures),
    repeatMinutes: change.repeatMinutes ?? null,
    showOnly: change.showOnly ?? false,
  }
}

/** What can be shown of most is to be chosen; an empty text is refused with the choices. */
function defaultShow(of: string): string {
  if (of === 'calls') return 'count'
  return of === 'success' || of === 'isEngaged' || of.startsWith('criterion.') ? 'share' : ''
}
