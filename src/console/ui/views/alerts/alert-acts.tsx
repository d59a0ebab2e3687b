import { ActionIcon, Menu } from '@mantine/core'
import {
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconSend,
  IconTrash,
} from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Alert } from '../../../../alerts/schemas.ts'
import { pathOf } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { useConfirm } from '../../components/dialogs.tsx'
import { counted } from '../../components/figures.ts'
import { sayNotDone } from '../../components/say-not-done.ts'
import { to } from '../../components/to.ts'
import { focusedOrMenu } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'

/** What can be done with an alert. @param onDeleted called before it is gone from the list */
export function useAlertActs({ id, name, paused }: Alert, onDeleted?: () => unknown) {
  const { of } = useProject()
  const client = useQueryClient()
  const ask = useConfirm()
  const at = of.alerts({ id })
  const pausing = useAct({
    send: () => at.pause.post({ paused: !paused }),
    changes: of.alerts,
    says: (alert) => `“${name}” ${alert.paused ? 'is paused' : 'is evaluated again'}`,
  })
  const testing = useAct({ send: () => at.test.post({}), says: ({ queued }) => describeSent(queued) })
  return {
    isTesting: testing.isPending,
    pause: () => pausing.mutate(undefined, { onError: (error) => sayNotDone('Nothing was changed', error) }),
    test: () =>
      testing.mutate(undefined, { onError: (error) => sayNotDone('No test message was sent', error) }),
    remove: () =>
      ask({
        title: 'Delete this alert?',
        verb: 'Delete alert',
        text: (
          <p>
            Nothing more is sent of <strong dir="auto">{name}</strong>, and its history is deleted. An open
            incident at PagerDuty stays for you to resolve. Pause the alert to keep all of it.
          </p>
        ),
        send: () => at.delete(),
        says: `Deleted the alert “${name}”`,
        done: async () => {
          await onDeleted?.()
          await client.invalidateQueries({ queryKey: pathOf(of.alerts) })
        },
      }),
  }
}

/** @param queued an alert and its end for each destination */
export function describeSent(queued: number): string {
  if (queued === 0)
    return 'No test message was sent: the destinations are switched off. Save the alert to try again.'
  return `${counted(queued, 'test message')} will arrive in a moment: an alert and its end at each destination.`
}

/** The acts of a row. */
export function AlertMenu({ alert }: { alert: Alert }) {
  const navigate = useNavigate()
  const { pause, test, remove } = useAlertActs(alert)
  const { id, name, paused } = alert
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => void navigate(to.alert(id))}>
          Edit
        </Menu.Item>
        <Menu.Item
          leftSection={paused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
          onClick={pause}
        >
          {paused ? 'Resume' : 'Pause'}
        </Menu.Item>
        <Menu.Item leftSection={<IconSend size={16} />} disabled={alert.to.length === 0} onClick={test}>
          Send a test message
        </Menu.Item>
        <Menu.Item
          color="var(--cb-danger-text)"
          leftSection={<IconTrash size={16} />}
          onClick={() => {
            // The dialog gives the focus back to what had it.
            focusedOrMenu()?.focus()
            remove()
          }}
        >
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
