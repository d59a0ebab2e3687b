import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { named } from '../validation.ts'

/** What a changed record comes with: nothing, its document, or for a call its details, too. */
export const includes = ['call', 'details', 'none'] as const
export type Include = (typeof includes)[number]

const changeTypes = ['call.changed', 'call.deleted', 'knowledge.changed', 'knowledge.deleted'] as const
export type ChangeType = (typeof changeTypes)[number]

/** A change without its record. */
const Change = named('Change', {
  seq: Type.Integer({
    description: 'Number of the change in the project. Later changes have higher numbers.',
    example: 42,
  }),
  type: Type.Unsafe<ChangeType>({ type: 'string', enum: [...changeTypes] }),
  ref: Type.String({
    description: "The record's keyed hash: the same in each of its changes, including its deletion.",
    example: '5d0c3f8e7a1b4c6d9e2f5a8b1c4d7e0f3a6b9c2d5e8f1a4b7c0d3e6f9a2b5c8d',
  }),
  at: Type.String({
    description: "A call's updatedAt, the time of an item's last change, or the time of the deletion.",
    example: '2026-01-31T09:30:00.000Z',
  }),
})
export type Change = Static<typeof Change>

/** The schema of a page of changes. @param records the schemas of a call and an item */
export function changePageOf({ Call, Item }: { Call: TSchema; Item: TSchema }) {
  const Full = named(
    'Change',
    { ...Change.properties, call: Type.Optional(Call), item: Type.Optional(Item) },
    { description: 'A changed record has its document, unless `include` is `none`.' },
  )
  return named('ChangePage', {
    data: Type.Array(Full),
    next: Type.Integer({ description: 'The value of `after` for the next request.', example: 42 }),
    hasMore: Type.Boolean({ description: 'Whether there are more changes now.' }),
  })
}
