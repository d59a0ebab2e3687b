import { Type } from '@sinclair/typebox'
import { named } from '../validation.ts'
import { type WebhookEvent, webhookEvents } from './events.ts'

// Request bodies of the console's pages about webhooks.

export const NewWebhook = named('NewWebhook', {
  url: Type.String({ maxLength: 2_000 }),
  /** All by default. */
  events: Type.Optional(Type.Array(Type.String({ maxLength: 60 }), { maxItems: 20 })),
  details: Type.Optional(Type.Boolean()),
})

/** The body of a request that needs none. */
export const NoMembers = named('NoMembers', {})

/** Which event to send an example of. */
export const TestEvent = named('TestEvent', {
  event: Type.Unsafe<WebhookEvent>({ type: 'string', enum: [...webhookEvents] }),
})

/** Attempts to list: all, or the failed ones. */
export const AttemptsRequest = named('AttemptsRequest', { failed: Type.Optional(Type.Literal('true')) })

export const Replay = named('Replay', { after: Type.Integer({ minimum: 0 }) })
