import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { type FieldError, invalidRequest } from '../errors.ts'
import { named, plainNamePattern } from '../validation.ts'

const criteriaMax = 20
const fieldsMax = 50
const choicesMax = 50
const questionCharsMax = 2_000
const instructionsCharsMax = 4_000
const listedMax = 100
const tokensMax = 10 ** 12
export const versionMax = 999_999_999

const nullable = <S extends TSchema>({ description, ...schema }: S, own?: string) =>
  Type.Unsafe<Static<S> | null>({ ...schema, description: own ?? description, nullable: true })
/** Excludes the one name that objects of JavaScript do not take. */
const idPattern = '^(?!__proto__$)[a-z0-9_]{1,40}$'
const Id = (description: string, example: string) =>
  Type.String({
    pattern: idPattern,
    'x-message': 'must be 1 to 40 characters of a-z 0-9 _',
    description,
    example,
  })
const time = Type.String({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' })
const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  'x-message': 'must not be blank',
  format: 'name',
  'x-documented': { pattern: plainNamePattern },
  example: 'Confirmed the date',
})
const texts = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: listedMax,
      description,
    }),
  )

/** A question about a call that has the answer yes or no. */
const Criterion = named('Criterion', {
  id: Id('What the answer is found and filtered by.', 'confirmed_date'),
  name: Name,
  kind: Type.Optional(
    Type.Unsafe<'question' | 'grounded'>({
      type: 'string',
      enum: ['question', 'grounded'],
      description:
        '`grounded` asks whether the passages that the call found, or the results of its tools, support what the agent said. Left out, it is `question`.',
    }),
  ),
  question: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: questionCharsMax,
      description: 'Yes is `pass`, no is `fail`. Required unless the kind is `grounded`.',
      example: 'Did the agent repeat the date and the time, and did the caller agree?',
    }),
  ),
})

/** A value to read out of a call. */
export const RubricField = named('RubricField', {
  key: Id('Its key in `callAnalysis`.', 'booking_day'),
  type: Type.Unsafe<'string' | 'boolean' | 'integer' | 'number' | 'enum'>({
    type: 'string',
    enum: ['string', 'boolean', 'integer', 'number', 'enum'],
  }),
  description: Type.String({
    minLength: 1,
    maxLength: questionCharsMax,
    example: 'The day that was booked, as the caller said it.',
  }),
  choices: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: choicesMax,
      description: 'Of an `enum`, and of no other type.',
    }),
  ),
})
export type RubricField = Static<typeof RubricField>

const Conditions = named('RubricConditions', {
  minUserTurns: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, example: 1 })),
  minDuration: Type.Optional(Type.Number({ minimum: 0, description: 'Seconds.', example: 10 })),
  agentIds: texts('Calls in which one of these agents took part.'),
  sources: texts('Calls of these platforms.'),
  endedReasons: texts('Calls that ended for one of these reasons.'),
})

const rubric = {
  summary: nullable(
    named('SummaryRequest', {
      instructions: Type.String({
        maxLength: instructionsCharsMax,
        description: 'What a summary should say; may be empty.',
        example: 'Two sentences: what the caller wanted, and how it ended.',
      }),
    }),
    'Null writes no summaries.',
  ),
  criteria: Type.Array(Criterion, { maxItems: criteriaMax }),
  fields: Type.Array(RubricField, { maxItems: fieldsMax }),
  evaluation: Type.Unsafe<'all' | string[] | null>({
    title: 'RubricEvaluation',
    anyOf: [
      { type: 'string', enum: ['all'] },
      { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: criteriaMax },
      { type: 'null' },
    ],
    example: ['confirmed_date'],
    'x-message': 'must be "all", a list of ids of criteria, or null',
    description:
      'The criteria that must all pass for `success`. One that fails makes it `fail`. Null evaluates nothing.',
  }),
  when: Conditions,
  share: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'The share of calls that is analyzed, the same ones each time. 0 switches analysis off.',
    example: 1,
  }),
  tokensPerMonth: nullable(
    Type.Integer({ minimum: 0, maximum: tokensMax, example: 5_000_000 }),
    'What calls may use in a calendar month (UTC), prompt and completion together. Null is no limit.',
  ),
}

/** What a model is asked about each call. */
export const RubricContent = Type.Object(rubric)
export type RubricContent = Static<typeof RubricContent>

/** A version of a project's rubric. It never changes. */
export const Rubric = named('Rubric', {
  version: Type.Integer({ minimum: 1, example: 3 }),
  createdAt: time,
  ...rubric,
})
export type Rubric = Static<typeof Rubric>

const { criteria, ...others } = rubric
/** A rubric as it is sent: all but its criteria may be left out. */
export const RubricChange = Type.Composite([Type.Object({ criteria }), Type.Partial(Type.Object(others))], {
  title: 'RubricChange',
})
export type RubricChange = Static<typeof RubricChange>

/** The rubric that a request means. */
export function completeRubric(change: RubricChange): RubricContent {
  const {
    summary = null,
    criteria,
    fields = [],
    evaluation = null,
    when = {},
    share = 1,
    tokensPerMonth = null,
  } = change
  return {
    summary: summary && { instructions: summary.instructions },
    criteria: criteria.map(({ id, name, kind, question }) => ({
      id,
      name,
      ...(kind === 'grounded' && { kind }),
      ...(question !== undefined && { question }),
    })),
    fields: fields.map(({ key, type, description, choices }) => ({
      key,
      type,
      description,
      ...(choices && { choices }),
    })),
    evaluation: Array.isArray(evaluation) ? [...new Set(evaluation)] : evaluation,
    when: Object.fromEntries(
      Object.keys(Conditions.properties).flatMap((name) => {
        const value = when[name as keyof typeof when]
        return value === undefined ? [] : [[name, value]]
      }),
    ),
    share,
    tokensPerMonth,
  }
}

/** The version that a query names. @throws invalid_request */
export function readVersion(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text)
  throw invalidRequest([{ field: 'version', message: 'must be a whole number from 1' }])
}

/** What the schema of a rubric cannot say. */
export function rubricErrors({ criteria = [], fields = [], evaluation }: RubricChange): FieldError[] {
  const ids = criteria.map(({ id }) => id)
  const keys = fields.map(({ key }) => key)
  const repeated = (names: string[], list: string, name = '') =>
    names.flatMap((one, at) =>
      names.indexOf(one) < at ? [{ field: `${list}.${at}${name}`, message: `${one} is there already` }] : [],
    )
  const choices = fields.flatMap(({ choices = [] }, at) => repeated(choices, `fields.${at}.choices`))
  const kinds = fields.flatMap(({ type, choices }, at) => {
    if ((type === 'enum') === (choices !== undefined)) return []
    const message = type === 'enum' ? 'is required for an enum' : 'is for an enum alone'
    return [{ field: `fields.${at}.choices`, message }]
  })
  const questions = criteria.flatMap(({ kind, question }, at) =>
    kind === 'grounded' || question !== undefined
      ? []
      : [{ field: `criteria.${at}.question`, message: 'is required unless the kind is grounded' }],
  )
  const unknown = (Array.isArray(evaluation) ? evaluation : []).filter((id) => !ids.includes(id))
  return [
    ...repeated(ids, 'criteria', '.id'),
    ...questions,
    ...repeated(keys, 'fields', '.key'),
    ...choices,
    ...kinds,
    ...unknown.map((id) => ({ field: 'evaluation', message: `${id} is the id of no criterion` })),
  ]
}

/** What a verdict or a value rests on. */
const evidence = {
  turns: Type.Array(Type.Integer({ minimum: 0 }), {
    description: 'Indexes of turns in `transcript`.',
    example: [4],
  }),
  quote: Type.String({ description: 'Occurs in one of these turns.', example: 'Friday at ten, that works.' }),
}

export const Verdict = Type.Unsafe<'pass' | 'fail' | 'unknown'>({
  type: 'string',
  enum: ['pass', 'fail', 'unknown'],
  description: '`unknown` too where the quotation does not occur in the turns that were named.',
})
export type Verdict = Static<typeof Verdict>

const JudgedCriterion = named('JudgedCriterion', {
  id: Type.String({ example: 'confirmed_date' }),
  result: Verdict,
  rationale: Type.String({ description: 'Why, in a sentence of the model.' }),
  ...evidence,
  support: nullable(
    named('Support', {
      itemId: nullable(Type.String({ example: 'kn_019a5f0c2b7e7cc0' }), 'Null for the result of a tool.'),
      name: Type.String({ description: 'Of the item, or of the tool.', example: 'Refunds' }),
      quote: Type.String({
        description: 'Occurs in what was found.',
        example: 'We refund any order within 30 days.',
      }),
    }),
    'What supports a `pass` of the kind `grounded`; null for all others.',
  ),
})
export type JudgedCriterion = Static<typeof JudgedCriterion>

const FoundField = named('FoundField', {
  key: Type.String({ example: 'booking_day' }),
  value: Type.Unsafe<string | number | boolean | null>({
    anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }],
    description: 'Null where the call does not say.',
  }),
  ...evidence,
})
export type FoundField = Static<typeof FoundField>

/** What a model found out about a call, after all of it was checked. */
export interface Findings {
  summary: string | null
  criteria: JudgedCriterion[]
  fields: FoundField[]
}

/** What a model counts of a request and its answer; 0 where it counts nothing. */
export const Tokens = named('Tokens', { prompt: Type.Integer(), completion: Type.Integer() })
export type Tokens = Static<typeof Tokens>

/** How far the analysis of a call is, and what came of it. */
export const Analysis = named('Analysis', {
  state: Type.Unsafe<'none' | 'queued' | 'running' | 'done' | 'skipped' | 'failed' | 'paused'>({
    type: 'string',
    enum: ['none', 'queued', 'running', 'done', 'skipped', 'failed', 'paused'],
  }),
  reason: nullable(Type.String(), 'Why it was skipped, failed or is paused.'),
  version: nullable(Type.Integer(), 'The version of the rubric.'),
  model: nullable(Type.String()),
  at: nullable(time, 'When it ended.'),
  tokens: nullable(Tokens),
  summary: nullable(Type.String()),
  criteria: Type.Array(JudgedCriterion),
  fields: Type.Array(FoundField),
})
export type Analysis = Static<typeof Analysis>

/** A request to analyze past calls. */
export const NewAnalysisRun = named('AnalysisRunRequest', {
  filters: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      title: 'CallFilters',
      type: 'object',
      additionalProperties: true,
      description:
        'As the query of a list of calls, with numbers, booleans and lists where they fit. Left out, all completed calls.',
      example: { from: '2026-01-01', agentId: ['front-desk'] },
    }),
  ),
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: versionMax,
      example: 1,
      description: 'By default the one in force.',
    }),
  ),
  again: Type.Optional(
    Type.Boolean({ description: 'Also calls that this version has analyzed. By default they are skipped.' }),
  ),
  dryRun: Type.Optional(Type.Boolean({ description: 'Only counts.' })),
})
export type NewAnalysisRun = Static<typeof NewAnalysisRun>

export const PlannedRun = named('PlannedRun', {
  calls: Type.Integer({ description: 'Completed calls that match.', example: 128 }),
  tokens: Type.Integer({ description: 'An estimate of what they take.', example: 310_000 }),
})
export type PlannedRun = Static<typeof PlannedRun>

export const AcceptedRun = named('AcceptedRun', {
  id: Type.String({ example: 'ana_019a5f0c2b7e7cc0a1d2e3f405162738' }),
  calls: Type.Integer({ example: 128 }),
})
export type AcceptedRun = Static<typeof AcceptedRun>

/** A run over the past. Calls that are deleted meanwhile are counted nowhere. */
export const AnalysisRun = named('AnalysisRun', {
  id: Type.String({ example: 'ana_019a5f0c2b7e7cc0a1d2e3f405162738' }),
  state: Type.Unsafe<'running' | 'done' | 'stopped'>({
    type: 'string',
    enum: ['running', 'done', 'stopped'],
  }),
  version: Type.Integer({ example: 3 }),
  calls: Type.Integer({ example: 128 }),
  done: Type.Integer({ example: 96 }),
  skipped: Type.Integer({ example: 2 }),
  failed: Type.Integer({ example: 0 }),
  createdAt: time,
  createdBy: nullable(Type.String()),
})
export type AnalysisRun = Static<typeof AnalysisRun>

/** What the console shows of a project's analysis. */
export interface AnalysisStatus {
  /** Null if none is configured. */
  model: string | null
  destination: string | null
  /** Calls in the queue, counted to 10,000. */
  waiting: number
  /** Tokens used this month. */
  tokens: Tokens
  pause: {
    reason: 'credentials' | 'model' | 'unreachable' | 'budget'
    detail: string
    since: string
    until: string
  } | null
}

const share = (description: string) =>
  nullable(Type.Number({ minimum: 0, maximum: 1, example: 0.92 }), description)
const kappa = nullable(
  Type.Number({ minimum: -1, maximum: 1, example: 0.81 }),
  "Cohen's kappa: 0 is as good as a guess that knows how often people say yes, 1 is perfect. Null where it is not defined.",
)
const agreementFields = {
  calls: Type.Integer({ description: 'Calls on which both were clear.', example: 60 }),
  agreed: Type.Integer({ example: 55 }),
  accuracy: share('`agreed` / `calls`.'),
  kappa,
  baseRate: share("People's share of success, or of pass."),
}

const disagreements = Type.Array(
  named('Disagreement', {
    id: Type.String({ example: 'call-1042' }),
    person: Type.String({ example: 'fail' }),
    model: Type.String({ example: 'success' }),
  }),
  { description: 'At most 500.' },
)

/** How far people's reviews and the analysis agree. */
export const Agreement = named('Agreement', {
  version: Type.Integer({ example: 3 }),
  ...agreementFields,
  disagreements,
  criteria: Type.Array(
    named('CriterionAgreement', {
      id: Type.String({ example: 'confirmed_date' }),
      ...agreementFields,
      disagreements,
    }),
  ),
})
export type Agreement = Static<typeof Agreement>

/** A call to try a rubric on. */
export const RubricTrial = named('RubricTrial', {
  call: Type.String({ description: "A completed call's id.", example: 'call-1042' }),
  rubric: Type.Optional(RubricChange),
})
