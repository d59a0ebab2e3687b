import { ActionIcon, Menu } from '@mantine/core'
import {
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconSend,
  IconTrash,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { Alert } from '../../../../alerts/schemas.ts'
import { focusedOrMenu } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'
import { useAlertActions } from './use-alert-actions.ts'

interface AlertMenuProps {
  alert: Alert
  onDelete: (alert: Alert) => void
}

/** What can be done with an alert. */
export function AlertMenu({ alert, onDelete }: AlertMenuProps) {
  const { id: project } = useProject()
  const navigate = useNavigate()
  const { pause, test } = useAlertActions(alert.id)
  const { id, name, paused, to } = alert
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconPencil size={16} />}
          onClick={() =>
            void navigate({ to: '/p/$project/settings/alerts/$alert', params: { project, alert: id } })
          }
        >
          Edit
        </Menu.Item>
        <Menu.Item
          leftSection={paused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
          onClick={() => pause(!paused)}
        >
          {paused ? 'Resume' : 'Pause'}
        </Menu.Item>
        <Menu.Item leftSection={<IconSend size={16} />} disabled={to.length === 0} onClick={() => test()}>
          Send a test message
        </Menu.Item>
        <Menu.Item
          color="var(--cb-danger-text)"
          leftSection={<IconTrash size={16} />}
          onClick={() => {
            // The dialog gives the focus back to what had it.
            focusedOrMenu()?.focus()
            onDelete(alert)
          }}
        >
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
