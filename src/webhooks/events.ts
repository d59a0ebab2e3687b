/** What a webhook can be told of, in the order in which people read them. */
export const webhookEvents = [
  'call.started',
  'call.changed',
  'call.completed',
  'call.deleted',
  'knowledge.changed',
  'knowledge.ready',
  'knowledge.deleted',
  'erasure.done',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** How long to wait after each failed try. After the last one the event is given up. */
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

/** An endpoint is switched off after nothing but failures for this long. */
export const failingMsMax = 120 * hourMs
/** How long the secret before a rotation still signs. */
export const rotationMs = 24 * hourMs
/** How long tries are kept. */
export const triesKeptMs = 30 * 24 * hourMs
/** Changes of a live call are sent no more often than this. */
export const liveChangesMs = 2 * secondMs

/** When to try again; null when the event is given up. @param attempts how many tries have failed */
export function retryAt(attempts: number, now: number): number | null {
  const delayMs = retryDelaysMs[attempts - 1]
  return delayMs === undefined ? null : now + delayMs
}
