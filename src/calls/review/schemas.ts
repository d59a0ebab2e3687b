import { type Static, Type } from '@sinclair/typebox'
import { Label, labelsMax, transcriptTurnsMax } from '../schemas.ts'

/** Calls that one request changes. */
const callsPerRequestMax = 1_000
export const flaggedTurnsMax = 200
export const verdictsMax = 100

const Labels = Type.Array(Label, { maxItems: labelsMax })
const Turns = Type.Array(Type.Integer({ minimum: 0, maximum: transcriptTurnsMax - 1 }), {
  maxItems: flaggedTurnsMax,
})

const Note = Type.Unsafe<string | null>({ type: 'string', maxLength: 10_000, nullable: true })

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

/** What can be changed of many calls at once. */
export const ManyChange = Type.Pick(ReviewChange, [
  'evaluation',
  'reviewed',
  'assignee',
  'addLabels',
  'removeLabels',
])

/** One change of the reviews of these calls. */
export const ReviewsChange = Type.Object(
  {
    ids: Type.Array(Type.String({ maxLength: 128 }), { minItems: 1, maxItems: callsPerRequestMax }),
    change: ManyChange,
  },
  { title: 'ReviewsChange' },
)

/** Calls to freeze: those of a query of the list, or these. With a name they are a queue of reviews. */
export const NewSet = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  /** The query string of the list's URL, as the API takes it. */
  query: Type.Optional(Type.String({ maxLength: 8_000 })),
  ids: Type.Optional(
    Type.Array(Type.String({ maxLength: 128 }), { minItems: 1, maxItems: callsPerRequestMax }),
  ),
})
