import { keepPreviousData, queryOptions } from '@tanstack/react-query'
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

/** The newest attempts to send events to a webhook; or the newest that failed. */
export function attemptsQuery(project: string, id: string, isFailed: boolean) {
  return queryOptions({
    queryKey: settingsKeys.attempts(project, id, isFailed),
    queryFn: ({ signal }) =>
      unwrap(
        api
          .projects({ project })
          .webhooks({ id })
          .attempts.get({ query: isFailed ? { failed: 'true' } : {}, fetch: { signal } }),
      ),
    refetchInterval: refetchMs,
    placeholderData: keepPreviousData,
  })
}

/** One message with its attempts. */
export function messageQuery(project: string, id: string, message: string) {
  return queryOptions({
    queryKey: settingsKeys.message(project, id, message),
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).webhooks({ id }).messages({ message }).get({ fetch: { signal } })),
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

export const allEvents = Object.entries(eventWords)
