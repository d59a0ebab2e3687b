import type { WebhookEvent } from './events.ts'

// Examples of events, for the OpenAPI document and for tests of endpoints.

export const [startedAt, endedAt] = ['2026-01-31T09:30:00.000Z', '2026-01-31T09:31:31.200Z']

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
  tags: ['billing'],
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

/** The members of `data` besides `seq` and `ref`. */
export interface EventExample {
  id?: string
  call?: object
  item?: object
  erasure?: object
  alert?: object
}

const ofCall = (call: typeof liveCall) => ({ id: call.id, call })

export const examples: Record<WebhookEvent, EventExample> = {
  'call.started': ofCall(liveCall),
  'call.changed': ofCall({ ...liveCall, isEngaged: true, updatedAt: endedAt }),
  'call.completed': ofCall(completedCall),
  'call.deleted': {},
  'knowledge.changed': { id: item.id, item },
  'knowledge.ready': { id: item.id, item },
  'knowledge.deleted': {},
  'erasure.done': { erasure: { id: 'era_019a5f0c2b7e7cc0a1d2e3f405162738', calls: 3 } },
  'call.analyzed': ofCall(completedCall),
  'alert.changed': { alert },
}

/** The body that a test of an endpoint sends. @param at milliseconds since 1970 */
export function exampleOf(event: WebhookEvent, at: number): object {
  const example = examples[event]
  return {
    type: event,
    timestamp: new Date(at).toISOString(),
    test: true,
    data: { seq: 0, ref: refOf(example), ...example },
  }
}

export function refOf({ erasure, alert: ofAlert }: EventExample): string {
  if (erasure) return 'era_019a5f0c2b7e7cc0a1d2e3f405162738'
  return ofAlert ? alert.id : '5d0c3f8e7a1b4c6d'.repeat(4)
}
