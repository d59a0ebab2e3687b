import { Type } from '@sinclair/typebox'
import { named } from '../validation.ts'

// Request bodies of the console's pages about webhooks.

export const NewWebhook = named('NewWebhook', {
  url: Type.String({ maxLength: 2_000 }),
  /** All by default. */
  events: Type.Optional(Type.Array(Type.String({ maxLength: 60 }), { maxItems: 20 })),
  details: Type.Optional(Type.Boolean()),
})

/** The body of a request that needs none. */
export const NoMembers = named('NoMembers', {})

export const Replay = named('Replay', { after: Type.Integer({ minimum: 0 }) })
