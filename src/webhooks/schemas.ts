import { Type } from '@sinclair/typebox'

// Request bodies of the console's pages about webhooks.

export const NewWebhook = Type.Object(
  {
    url: Type.String({ maxLength: 2_000 }),
    /** All by default. */
    events: Type.Optional(Type.Array(Type.String({ maxLength: 60 }), { maxItems: 20 })),
    details: Type.Optional(Type.Boolean()),
  },
  { title: 'NewWebhook' },
)

/** The body of a request that needs none. */
export const NoMembers = Type.Object({}, { title: 'NoMembers' })

export const Replay = Type.Object({ after: Type.Integer({ minimum: 0 }) }, { title: 'Replay' })
