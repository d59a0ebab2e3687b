import type { Endpoint } from './queue.ts'

/** What PagerDuty takes of a summary. */
const summaryCharsMax = 1_024
const severities = { alert: 'critical', warning: 'warning', ok: 'info', no_data: 'info' } as const

/** An alert in the queue: see src/alerts/schemas.ts. */
interface QueuedAlert {
  id: string
  name: string
  state: keyof typeof severities
  value: number | null
  limit: number | null
  calls: number
  from: string
  to: string
  url: string
  test?: true
}

/** The body of an alert for a destination that is no webhook; null for a webhook. @param json as it is queued */
export function bodyFor({ kind, secret }: Pick<Endpoint, 'kind' | 'secret'>, json: string): string | null {
  if (kind === 'webhook') return null
  const alert: QueuedAlert = JSON.parse(json)
  return JSON.stringify(kind === 'slack' ? toSlack(alert) : toPagerDuty(alert, secret))
}

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
function toSlack(alert: QueuedAlert): object {
  const text = sentenceOf(alert).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const link = `<${alert.url}|Open the calls>`
  return { text, blocks: [{ type: 'section', text: { type: 'mrkdwn', text: `${text}\n${link}` } }] }
}

/** https://developer.pagerduty.com/docs/send-alert-event: a rule has one incident at a time, which `ok` resolves. */
function toPagerDuty(alert: QueuedAlert, key: string): object {
  const { id, name, state, value, limit, calls, from, to, url, test } = alert
  return {
    routing_key: key,
    event_action: state === 'ok' ? 'resolve' : 'trigger',
    dedup_key: test ? `${id}.test` : id,
    payload: {
      summary: sentenceOf(alert).slice(0, summaryCharsMax),
      source: 'Callbook',
      severity: test ? 'info' : severities[state],
      timestamp: to,
      custom_details: { name, value, limit, calls, from, to },
    },
    links: [{ href: url, text: 'Open the calls' }],
  }
}

function sentenceOf({ name, state, value, limit, calls, from, to, test }: QueuedAlert): string {
  const number = value === null ? 'no value' : String(Math.round(value * 1_000) / 1_000)
  const beside = limit === null ? '' : ` (limit ${limit})`
  const callCount = `${calls} ${calls === 1 ? 'call' : 'calls'}`
  return `${test ? 'Test: ' : ''}${name}: ${state}. ${number}${beside}, ${callCount}, ${from} to ${to}.`
}
