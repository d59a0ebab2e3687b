import { type TSchema, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'
import { asOpenApi, headerParameter } from '../http/openapi.ts'
import { type WebhookEvent, webhookEvents } from './events.ts'

const [startedAt, endedAt] = ['2026-01-31T09:30:00.000Z', '2026-01-31T09:31:31.200Z']

const liveCall: { id: string; [field: string]: unknown } = {
  id: 'call-1042',
  status: 'live',
  duration: 0,
  summary: null,
  evaluation: null,
  endedReason: null,
  callerNumber: '+15557294053',
  calledNumber: '+15550100000',
  isEngaged: false,
  callAnalysis: null,
  transcript: [{ role: 'assistant', content: 'Hello, how can I help?' }],
  createdAt: startedAt,
  updatedAt: startedAt,
}
const completedCall = {
  ...liveCall,
  status: 'completed',
  duration: 91.2,
  isEngaged: true,
  updatedAt: endedAt,
  summary: 'The booking moved to Friday.',
  evaluation: 'success',
  endedReason: 'customer-ended-call',
  callAnalysis: { intent: 'reschedule' },
}
const item = {
  id: 'kn_019a5f0c2b7e7cc0a1d2e3f405162738',
  name: 'Refund policy',
  description: 'What agents say about refunds.',
  text: '## Refunds\n\nWe refund any order within 30 days.',
  createdAt: startedAt,
}

const alert = {
  id: 'alr_019a5f0c2b7e7cc0a1d2e3f405162738',
  name: 'Bookings fail',
  state: 'alert',
  value: 0.31,
  limit: 0.2,
  calls: 42,
  from: startedAt,
  to: endedAt,
  url: 'https://callbook.example.com/console/p/prj_019a5f0c2b7e7cc0a1d2e3f405162738/calls?agentId=booking',
}

interface EventDocs {
  about: string
  /** The members of `data` besides `seq` and `ref`. */
  example: { id?: string; call?: object; item?: object; erasure?: object; alert?: object }
}

const ofCall = (call: typeof liveCall) => ({ id: call.id, call })
const eventDocs: Record<WebhookEvent, EventDocs> = {
  'call.started': { about: 'A call came in that is live.', example: ofCall(liveCall) },
  'call.changed': {
    about: 'A call changed, or its details. Changes of a live call are sent at most every 2 s.',
    example: ofCall({ ...liveCall, isEngaged: true, updatedAt: endedAt }),
  },
  'call.completed': {
    about: 'A call became completed. One that is completed when it comes in sends this alone.',
    example: ofCall(completedCall),
  },
  'call.deleted': {
    about: 'A call was deleted. Its id is not kept: `ref` tells which one it was.',
    example: {},
  },
  'knowledge.changed': { about: 'A knowledge item was stored or changed.', example: { id: item.id, item } },
  'knowledge.ready': { about: 'Vector search finds the whole item.', example: { id: item.id, item } },
  'knowledge.deleted': { about: 'A knowledge item was deleted.', example: {} },
  'erasure.done': {
    about: 'An erasure request is done: no byte of its calls is left.',
    example: { erasure: { id: 'era_019a5f0c2b7e7cc0a1d2e3f405162738', calls: 3 } },
  },
  'call.analyzed': {
    about: 'The analysis of a completed call is done: by the rubric of the project.',
    example: ofCall(completedCall),
  },
  'alert.changed': {
    about: 'An alert changed its state, or is repeated. Sent only to the webhooks that its rule names.',
    example: { alert },
  },
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

/** An example of an event, as a test of an endpoint sends it. @param at milliseconds since 1970 */
export function exampleOf(event: WebhookEvent, at: number): object {
  const { example } = eventDocs[event]
  return {
    type: event,
    timestamp: new Date(at).toISOString(),
    test: true,
    data: { seq: 0, ref: refOf(example), ...example },
  }
}

/** The webhooks of the OpenAPI document. @param records the schemas of what is sent */
export function describeWebhooks(records: Records): Record<string, object> {
  return Object.fromEntries(webhookEvents.map((event) => [event, { post: describeEvent(event, records) }]))
}

function describeEvent(
  event: WebhookEvent,
  { Call, Item, AlertMessage: Alert }: Records,
): OpenAPIV3.OperationObject {
  const { about, example } = eventDocs[event]
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

function refOf({ erasure, alert: ofAlert }: EventDocs['example']): string {
  if (erasure) return 'era_019a5f0c2b7e7cc0a1d2e3f405162738'
  return ofAlert ? alert.id : '5d0c3f8e7a1b4c6d'.repeat(4)
}
