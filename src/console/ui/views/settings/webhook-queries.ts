import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { WebhookEvent } from '../../../../webhooks/events.ts'
import { read } from '../../api.ts'
import { useProject } from '../../session.ts'

const refetchInterval = 5_000

/** The webhooks of the project, without their secrets. */
export function useWebhooks() {
  return useQuery({ ...read(useProject().of.webhooks), refetchInterval })
}

/** The newest attempts to send events to a webhook; or the newest that failed. */
export function useAttempts(id: string, isFailed: boolean) {
  const { attempts } = useProject().of.webhooks({ id })
  const query = isFailed ? ({ failed: 'true' } as const) : {}
  return useQuery({ ...read(attempts, query), refetchInterval, placeholderData: keepPreviousData })
}

/** One message with its attempts. */
export function useMessage(id: string, message: string, isOn = true) {
  const at = useProject().of.webhooks({ id }).messages({ message })
  return useQuery({ ...read(at), refetchInterval, enabled: isOn })
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
