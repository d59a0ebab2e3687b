import { type TSchema, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'
import {
  asOpenApi,
  deletedAnswer,
  headerParameter,
  jsonAnswer,
  keyedAnswers,
  pathParameter,
} from '../http/openapi.ts'
import { type WebhookEvent, webhookEvents } from './events.ts'
import { endedAt, examples, refOf } from './examples.ts'
import { DeliveryList, MadeWebhook, Replayed, Webhook, WebhookList, WebhookSecret } from './schemas.ts'

const abouts: Record<WebhookEvent, string> = {
  'call.started': 'A call came in that is live.',
  'call.changed': 'A call changed, or its details. Changes of a live call are sent at most every 2 s.',
  'call.completed': 'A call became completed. One that is completed when it comes in sends this alone.',
  'call.deleted': 'A call was deleted. Its id is not kept: `ref` tells which one it was.',
  'knowledge.changed': 'A knowledge item was stored or changed.',
  'knowledge.ready': 'Vector search finds the whole item.',
  'knowledge.deleted': 'A knowledge item was deleted.',
  'erasure.done': 'An erasure request is done: no byte of its calls is left.',
  'call.analyzed': 'The analysis of a completed call is done: by the rubric of the project.',
  'alert.changed':
    'An alert changed its state, or is repeated. Sent only to the webhooks that its rule names.',
}

const parameters = [
  headerParameter(
    'webhook-id',
    'The same in each attempt to send an event.',
    'msg_5d0c3f8e7a1b4c6d9e2f5a8b1c4d7e0f',
  ),
  headerParameter('webhook-timestamp', 'Seconds since 1970 of this attempt.', '1769851891'),
  headerParameter(
    'webhook-signature',
    'By the secret of the endpoint, as Standard Webhooks says; two of them for 24 hours after a rotation.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

type Records = Record<'Call' | 'Item' | 'AlertMessage', TSchema>

/** The webhooks of the OpenAPI document. @param records the schemas of what is sent */
export function describeWebhooks(records: Records): Record<string, object> {
  return Object.fromEntries(webhookEvents.map((event) => [event, { post: describeEvent(event, records) }]))
}

function describeEvent(
  event: WebhookEvent,
  { Call, Item, AlertMessage: Alert }: Records,
): OpenAPIV3.OperationObject {
  const [about, example] = [abouts[event], examples[event]]
  const data = Type.Object({
    seq: Type.Integer({ description: 'The number of the change in the project.' }),
    ref: Type.String({ description: "The record's keyed hash, as in the feed of changes." }),
    ...('id' in example ? { id: Type.String() } : {}),
    ...('call' in example ? { call: Call } : {}),
    ...('item' in example ? { item: Item } : {}),
    ...('erasure' in example
      ? { erasure: Type.Object({ id: Type.String(), calls: Type.Integer({ minimum: 0 }) }) }
      : {}),
    ...('alert' in example ? { alert: Alert } : {}),
  })
  const body = Type.Object({
    type: Type.Literal(event),
    timestamp: Type.String({ format: 'date-time', description: 'When the change was made.' }),
    test: Type.Optional(
      Type.Literal(true, {
        description: 'In an example that a person sends to test the endpoint: its record does not exist.',
      }),
    ),
    data,
  })
  return {
    tags: ['Webhooks'],
    security: [],
    operationId: event.replace(/\.(.)/, (_, letter: string) => letter.toUpperCase()),
    summary: about,
    description: 'Sent to each endpoint of the project that takes the event; see the guide, Webhooks.',
    parameters,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: asOpenApi(body),
          example: { type: event, timestamp: endedAt, data: { seq: 42, ref: refOf(example), ...example } },
        },
      },
    },
    responses: {
      '2XX': { description: 'The event is taken. Answered within 15 seconds; its body is not used.' },
      default: { description: 'The event is sent again, by a schedule.' },
    },
  }
}

const keyed = { tags: ['Webhooks'], security: [{ apiKey: [] }] }
const bodyErrors = ['payload_too_large', 'unsupported_media_type', 'insufficient_storage'] as const
const ofWebhook = {
  parameters: [pathParameter('id', 'Of a webhook.', 'wh_019a5f0c2b7e7cc0a1d2e3f405162738')],
}

export const listWebhooks = {
  ...keyed,
  operationId: 'listWebhooks',
  summary: 'List the webhooks',
  description: 'In the order in which they were made. For a key of the scope `manage`, as all of this.',
  responses: keyedAnswers({ 200: jsonAnswer('The webhooks.', WebhookList) }, []),
}

export const createWebhook = {
  ...keyed,
  operationId: 'createWebhook',
  summary: 'Create a webhook',
  description: 'Gets all events unless some are named. Its secret is shown once.',
  responses: keyedAnswers({ 201: jsonAnswer('The webhook.', MadeWebhook) }, [...bodyErrors]),
}

export const getWebhook = {
  ...keyed,
  ...ofWebhook,
  operationId: 'getWebhook',
  summary: 'Get a webhook',
  responses: keyedAnswers({ 200: jsonAnswer('The webhook.', Webhook) }, ['not_found']),
}

export const changeWebhook = {
  ...keyed,
  ...ofWebhook,
  operationId: 'changeWebhook',
  summary: 'Change a webhook',
  description:
    'What is left out stays. Switched off, it gets nothing; enabled again, it is sent what it missed.',
  responses: keyedAnswers({ 200: jsonAnswer('The webhook.', Webhook) }, ['not_found', ...bodyErrors]),
}

export const deleteWebhook = {
  ...keyed,
  ...ofWebhook,
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook',
  responses: keyedAnswers({ 200: deletedAnswer('The webhook is deleted.') }, [
    'not_found',
    'insufficient_storage',
  ]),
}

export const rotateWebhook = {
  ...keyed,
  ...ofWebhook,
  operationId: 'rotateWebhook',
  summary: 'Replace the secret of a webhook',
  description: 'For 24 hours, the previous one signs as well.',
  responses: keyedAnswers({ 200: jsonAnswer('The new secret.', WebhookSecret) }, [
    'not_found',
    ...bodyErrors,
  ]),
}

export const replayWebhook = {
  ...keyed,
  ...ofWebhook,
  operationId: 'replayWebhook',
  summary: 'Send events again',
  description: 'Every record that has changed since the change number `after` is sent as it is now.',
  responses: keyedAnswers({ 202: jsonAnswer('The events wait to be sent.', Replayed) }, [
    'not_found',
    ...bodyErrors,
  ]),
}

export const listDeliveries = {
  ...keyed,
  ...ofWebhook,
  operationId: 'listDeliveries',
  summary: 'List what was sent to a webhook',
  description: 'The newest 200 attempts, the newest first.',
  responses: keyedAnswers({ 200: jsonAnswer('The attempts.', DeliveryList) }, ['not_found']),
}
