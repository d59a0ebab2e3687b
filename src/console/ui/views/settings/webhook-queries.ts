import { queryOptions } from '@tanstack/react-query'
import type { WebhookEvent } from '../../../../webhooks/events.ts'
import { api, unwrap } from '../../api.ts'
import { settingsKeys } from '../../query-keys.ts'

const refetchMs = 5_000

/** The webhooks of a project, without their secrets. */
export function webhooksQuery(project: string) {
  return queryOptions({
    queryKey: settingsKeys.webhooks(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).webhooks.get({ fetch: { signal } })),
    refetchInterval: refetchMs,
  })
}

/** The newest attempts to send events to a webhook. */
export function triesQuery(project: string, id: string) {
  return queryOptions({
    queryKey: settingsKeys.attempts(project, id),
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).webhooks({ id }).attempts.get({ fetch: { signal } })),
    refetchInterval: refetchMs,
  })
}

/** Each event, and when it is sent. */
const eventWords = {
  'call.started': 'A live call started',
  'call.changed': 'A call changed',
  'call.completed': 'A call was completed',
  'call.deleted': 'A call was deleted',
  'knowledge.changed': 'An item was stored or changed',
  'knowledge.ready': 'Vector search can find an item',
  'knowledge.deleted': 'An item was deleted',
  'erasure.done': 'An erasure request was completed',
  'call.analyzed': 'A call was analyzed',
  'alert.changed': 'An alert changed its state',
} as const satisfies Record<WebhookEvent, string>

export const events = Object.entries(eventWords)
