import { type Static, Type } from '@sinclair/typebox'
import { named } from '../validation.ts'
import { type WebhookEvent, webhookEvents } from './events.ts'

// Requests and answers about webhooks.

export const NewWebhook = named('WebhookRequest', {
  url: Type.String({ maxLength: 2_000, example: 'https://example.com/hooks/callbook' }),
  /** All by default. */
  events: Type.Optional(Type.Array(Type.String({ maxLength: 60 }), { maxItems: 20 })),
  details: Type.Optional(Type.Boolean()),
})

/** Which event to send an example of. */
export const TestEvent = named('TestEvent', {
  event: Type.Unsafe<WebhookEvent>({ type: 'string', enum: [...webhookEvents] }),
})

/** Attempts to list: all, or the failed ones. */
export const AttemptsRequest = named('AttemptsRequest', { failed: Type.Optional(Type.Literal('true')) })

export const Replay = named('ReplayRequest', {
  after: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, example: 118 }),
})

/** What is left out stays. */
export const ChangedWebhook = named('WebhookUpdate', {
  url: Type.Optional(Type.String({ maxLength: 2_000, example: 'https://example.com/hooks/callbook' })),
  events: Type.Optional(
    Type.Array(Type.String({ maxLength: 60 }), { maxItems: 20, example: ['call.completed'] }),
  ),
  details: Type.Optional(Type.Boolean()),
  enabled: Type.Optional(Type.Boolean({ description: 'Enabled again, it is sent what it missed.' })),
})
export type WebhookChange = Static<typeof ChangedWebhook>

const time = Type.String({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' })
const nullableTime = Type.Unsafe<string | null>({ ...time, nullable: true })
const nullableText = Type.Unsafe<string | null>({ type: 'string', nullable: true })
const id = Type.String({ example: 'wh_019a5f0c2b7e7cc0a1d2e3f405162738' })

export const Webhook = named('Webhook', {
  id,
  url: Type.String({ example: 'https://example.com/hooks/callbook' }),
  events: Type.Array(Type.Unsafe<WebhookEvent>({ type: 'string', enum: [...webhookEvents] })),
  details: Type.Boolean({ description: 'Whether calls are sent with their details.' }),
  enabled: Type.Boolean({ example: true }),
  pending: Type.Integer({ minimum: 0, description: 'Events that wait to be sent.', example: 0 }),
  failures: Type.Integer({ minimum: 0, description: 'Failed attempts since the last success.', example: 0 }),
  lastSuccessAt: nullableTime,
  failingSince: nullableTime,
  disabledAt: nullableTime,
  disabledReason: nullableText,
  previousSecretUntil: nullableTime,
  createdAt: time,
})
export const WebhookList = named('WebhookList', { data: Type.Array(Webhook) })

const secret = Type.String({
  description: 'It is shown only once.',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
})
export const MadeWebhook = named('MadeWebhook', {
  ...Type.Pick(Webhook, ['id', 'url', 'events']).properties,
  secret,
})
export const WebhookSecret = named('WebhookSecret', { id, secret })
export const Replayed = named('Replayed', { id, queued: Type.Integer({ minimum: 0, example: 12 }) })

export const DeliveryList = named('DeliveryList', {
  data: Type.Array(
    named('Delivery', {
      messageId: Type.String({ example: 'msg_5d0c3f8e7a1b4c6d9e2f5a8b1c4d7e0f' }),
      event: Type.String({ example: 'call.completed' }),
      seq: Type.Integer({ minimum: 0, example: 118 }),
      attempt: Type.Integer({ minimum: 1, description: '1 for the first one.', example: 1 }),
      at: time,
      status: Type.Unsafe<number | null>({
        type: 'integer',
        nullable: true,
        description: 'null without an answer; then `error` says why.',
        example: 200,
      }),
      error: nullableText,
      durationMs: Type.Number({ minimum: 0, example: 84 }),
      bytes: Type.Integer({ minimum: 0, description: 'Of the body that was sent.', example: 1_432 }),
      isTest: Type.Boolean({ example: false }),
    }),
  ),
})
