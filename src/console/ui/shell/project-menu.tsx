import { Menu } from '@mantine/core'
import { IconCheck, IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { Avatar } from '../components/avatar.tsx'
import type { PopupProps } from '../components/popup.tsx'
import { useProject, useProjects } from '../session.ts'
import { useShellActions } from './shell-actions.ts'

interface ProjectMenuProps extends PopupProps {
  onFollow: (() => void) | undefined
}

/** The person's projects. */
export default function ProjectMenu({ onFollow, target, ...popup }: ProjectMenuProps) {
  const project = useProject()
  const projects = useProjects()
  const navigate = useNavigate()
  const { openNewProject } = useShellActions()
  const open = (id: string) => {
    onFollow?.()
    void navigate({ to: '/p/$project/overview', params: { project: id } })
  }
  return (
    <Menu position="bottom-start" width={248} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown mah={480} style={{ overflowY: 'auto' }}>
        <Menu.Label>Projects</Menu.Label>
        {projects.map(({ id, name }) => (
          <Menu.Item
            key={id}
            onClick={() => open(id)}
            aria-current={id === project.id || undefined}
            leftSection={<Avatar name={name} size="small" />}
            rightSection={id === project.id ? <IconCheck size={14} aria-hidden /> : undefined}
          >
            <span className="cb-truncate" dir="auto">
              {name}
            </span>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconPlus size={16} />}
          onClick={() => {
            onFollow?.()
            openNewProject()
          }}
        >
          New project
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
