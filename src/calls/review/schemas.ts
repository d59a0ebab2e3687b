import { type Static, Type } from '@sinclair/typebox'
import { Label, labelsMax, type Review, transcriptTurnsMax } from '../schemas.ts'

/** Calls that one request changes. */
const callsPerRequestMax = 1_000
export const flaggedTurnsMax = 200
export const verdictsMax = 100

const Labels = Type.Array(Label, { maxItems: labelsMax })
const Turns = Type.Array(Type.Integer({ minimum: 0, maximum: transcriptTurnsMax - 1 }), {
  maxItems: flaggedTurnsMax,
})

const Note = Type.Unsafe<string | null>({ type: 'string', maxLength: 10_000, nullable: true })

const CallId = Type.String({ maxLength: 128 })
export const CallIds = Type.Array(CallId, { minItems: 1, maxItems: callsPerRequestMax })

/** A change of a call's review. Each member that is sent replaces the stored one. */
export const ReviewChange = Type.Partial(
  Type.Object({
    evaluation: Type.Unsafe<string | null>({ type: 'string', minLength: 1, maxLength: 200, nullable: true }),
    note: Note,
    // The note when the person began to edit it. If it has changed since, it is not overwritten.
    noteBefore: Note,
    reviewed: Type.Boolean(),
    assignee: Type.Unsafe<string | null>({ type: 'string', minLength: 1, maxLength: 200, nullable: true }),
    // Additions instead of the whole list, so that two people who label a call at once keep each other's labels.
    addLabels: Labels,
    removeLabels: Labels,
    flagTurns: Turns,
    unflagTurns: Turns,
    // By the criterion's id; null takes a verdict back.
    criteria: Type.Unsafe<Record<string, 'pass' | 'fail' | null>>({
      type: 'object',
      maxProperties: verdictsMax,
      propertyNames: { pattern: '^[a-z0-9_]{1,40}$' },
      additionalProperties: { type: 'string', enum: ['pass', 'fail', null], nullable: true },
    }),
  }),
  { title: 'ReviewChange' },
)
export type ReviewChange = Static<typeof ReviewChange>

/** A change of a call's review by whole lists. Null takes a member back. */
export const ReviewUpdate = Type.Partial(
  Type.Object({
    evaluation: ReviewChange.properties.evaluation,
    note: Note,
    reviewed: Type.Unsafe<boolean | null>({ type: 'boolean', nullable: true }),
    labels: Type.Unsafe<string[] | null>({ ...Labels, nullable: true }),
    flaggedTurns: Type.Unsafe<number[] | null>({ ...Turns, nullable: true }),
    criteria: Type.Unsafe<Record<string, 'pass' | 'fail' | null> | null>({
      ...ReviewChange.properties.criteria,
      nullable: true,
      title: 'ReviewVerdictsUpdate',
      example: { confirmed_date: 'fail' },
    }),
  }),
  {
    title: 'ReviewUpdate',
    example: { evaluation: 'fail', note: 'Never confirmed the date.', labels: ['booking'], reviewed: true },
  },
)
export type ReviewUpdate = Static<typeof ReviewUpdate>

/** What can be changed of many calls at once. */
export const ManyChange = Type.Pick(ReviewChange, [
  'evaluation',
  'reviewed',
  'assignee',
  'addLabels',
  'removeLabels',
])
export type ManyChange = Static<typeof ManyChange>

/** One change of the reviews of these calls. */
export const ReviewsChange = Type.Object(
  {
    ids: CallIds,
    change: ManyChange,
  },
  { title: 'ReviewsChange' },
)

/** A call of which a change of many calls has changed the review. */
const ChangedReview = Type.Object({
  id: CallId,
  /** The time of the new review; null when nothing was left of it. */
  at: Type.Unsafe<string | null>({ type: 'string', nullable: true }),
  before: Type.Unsafe<Pick<Review, 'evaluation' | 'reviewed' | 'assignee' | 'labels' | 'by' | 'at'> | null>({
    type: 'object',
    nullable: true,
  }),
  /** Proves that the service has said so. */
  seal: Type.String({ maxLength: 64 }),
})
export type ChangedReview = Static<typeof ChangedReview>

/** A change of many calls to undo, as it was asked for, with calls as it has answered them. */
export const UndoneChange = Type.Object({
  change: ManyChange,
  changed: Type.Array(ChangedReview, { minItems: 1, maxItems: callsPerRequestMax }),
})
export type UndoneChange = Static<typeof UndoneChange>

/** The query string of the list's URL, as the API takes it. */
const Query = Type.String({ maxLength: 8_000 })

/** Calls to delete, or only to count: all that a query of the list finds. */
export const FoundCalls = Type.Object({ query: Query, dryRun: Type.Optional(Type.Boolean()) })

/** Calls to freeze: those of a query of the list, or these. With a name they are a queue of reviews. */
export const NewSet = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  query: Type.Optional(Query),
  ids: Type.Optional(CallIds),
})
