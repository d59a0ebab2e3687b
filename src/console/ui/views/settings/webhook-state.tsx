import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck, IconPower } from '@tabler/icons-react'
import type { WebhookAttempt } from '../../../../webhooks/deliveries.ts'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { useAct } from '../../components/acts.ts'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'

/** @param isAlways also when there is nothing to say */
export function WebhookState({ row, isAlways = false }: { row: WebhookRecord; isAlways?: boolean }) {
  const { enabled, failures } = row
  if (!enabled)
    return (
      <StatusBadge tone="danger" icon={<IconPower size={12} />}>
        Disabled
      </StatusBadge>
    )
  if (failures > 0)
    return (
      <StatusBadge tone="warning" icon={<IconAlertTriangle size={12} />}>
        {counted(failures, 'failure')}
      </StatusBadge>
    )
  return isAlways ? (
    <StatusBadge tone="neutral" icon={<IconCheck size={12} />}>
      Enabled
    </StatusBadge>
  ) : null
}

/** Why it is disabled, and enabling it. */
export function SwitchedOff({ row: { id, disabledAt, disabledReason } }: { row: WebhookRecord }) {
  const { of } = useProject()
  const enable = useAct({ send: () => of.webhooks({ id }).enable.post({}), changes: of.webhooks })
  const sayWhyNot = ({ message }: Error) => notifications.show({ color: 'red', message })
  return (
    <Group gap="xs" pt={4} pb="xs" c="dimmed">
      <span>
        {disabledReason} Disabled {disabledAt && <Instant at={disabledAt} />}. Nothing is sent until you
        enable it.
      </span>
      <Button
        size="compact-xs"
        variant="default"
        loading={enable.isPending}
        onClick={() => enable.mutate(undefined, { onError: sayWhyNot })}
      >
        Enable and send missed events
      </Button>
    </Group>
  )
}

/** The status of the answer, or why there was none. */
export function AttemptStatus({
  attempt: { status, error },
}: {
  attempt: Pick<WebhookAttempt, 'status' | 'error'>
}) {
  if (status !== null && status >= 200 && status < 300)
    return <span className="cb-figure cb-dimmed">{status}</span>
  return (
    <span title={error ?? undefined}>
      <StatusBadge tone="danger" icon={<IconAlertTriangle size={12} />}>
        {status === null ? error : `${status}`}
      </StatusBadge>
    </span>
  )
}
