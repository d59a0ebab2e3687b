import { type Static, Type } from '@sinclair/typebox'
import { Label, labelsMax, transcriptTurnsMax } from '../schemas.ts'

/** Calls that one request labels. */
const callsPerRequestMax = 1_000
export const flaggedTurnsMax = 200

const Labels = Type.Array(Label, { maxItems: labelsMax })
const Turns = Type.Array(Type.Integer({ minimum: 0, maximum: transcriptTurnsMax - 1 }), {
  maxItems: flaggedTurnsMax,
})

const Note = Type.Unsafe<string | null>({ type: 'string', maxLength: 10_000, nullable: true })

/** What a person changes of a call's review. Each member that is sent replaces its own. */
export const ReviewChange = Type.Partial(
  Type.Object({
    evaluation: Type.Unsafe<string | null>({ type: 'string', minLength: 1, maxLength: 200, nullable: true }),
    note: Note,
    // What the note was when the person began to edit it. Another note by now is not overwritten.
    noteBefore: Note,
    reviewed: Type.Boolean(),
    // One by one, so that two people who label a call at the same time keep each other's labels.
    addLabels: Labels,
    removeLabels: Labels,
    flagTurns: Turns,
    unflagTurns: Turns,
  }),
  { title: 'ReviewChange' },
)
export type ReviewChange = Static<typeof ReviewChange>

/** Labels to add to calls and to take from them. */
export const LabelChange = Type.Object(
  {
    ids: Type.Array(Type.String({ maxLength: 128 }), { minItems: 1, maxItems: callsPerRequestMax }),
    add: Type.Optional(Labels),
    remove: Type.Optional(Labels),
  },
  { title: 'LabelChange' },
)
export type LabelChange = Static<typeof LabelChange>
