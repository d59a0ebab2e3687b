/** The events that a webhook can receive, in the order in which people see them. */
export const webhookEvents = [
  'call.started',
  'call.changed',
  'call.completed',
  'call.deleted',
  'knowledge.changed',
  'knowledge.ready',
  'knowledge.deleted',
  'erasure.done',
  'call.analyzed',
  'alert.changed',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** The delay after each failed attempt. After the last one, the event is dropped. */
const retryDelaysMs = [
  5 * secondMs,
  30 * secondMs,
  2 * minuteMs,
  15 * minuteMs,
  hourMs,
  6 * hourMs,
  24 * hourMs,
  48 * hourMs,
]

/** An endpoint is switched off when every attempt has failed for this long. */
export const failingMsMax = 120 * hourMs
/** How long the previous secret still signs after a rotation. */
export const rotationMs = 24 * hourMs
/** How long attempts are kept. */
export const attemptsKeptMs = 30 * 24 * hourMs
/** Changes of a live call are sent no more often than this. */
export const liveChangesMs = 2 * secondMs

/** When to try again; null when the event is dropped. @param attempts how many attempts have failed */
export function retryAt(attempts: number, now: number): number | null {
  const delayMs = retryDelaysMs[attempts - 1]
  return delayMs === undefined ? null : now + delayMs
}
