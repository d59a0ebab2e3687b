import { Menu, UnstyledButton } from '@mantine/core'
import { IconCheck, IconSelector } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useProject, useProjects } from '../session.ts'

/** The project that is open; a click shows the others. */
export function ProjectSwitcher({ isNarrow }: { isNarrow: boolean }) {
  const project = useProject()
  const projects = useProjects()
  const navigate = useNavigate()
  const open = (id: string) => navigate({ to: '/p/$project/overview', params: { project: id } })
  return (
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <UnstyledButton className="cb-switcher" aria-label={`Project ${project.name}. Switch project`}>
          <span className="cb-avatar" aria-hidden>
            {initialOf(project.name)}
          </span>
          {!isNarrow && (
            <>
              <span className="cb-truncate cb-switcher-name">{project.name}</span>
              <IconSelector size={14} aria-hidden />
            </>
          )}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Projects</Menu.Label>
        {projects.map(({ id, name }) => (
          <Menu.Item
            key={id}
            onClick={() => open(id)}
            rightSection={id === project.id ? <IconCheck size={14} aria-label="open" /> : undefined}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function initialOf(name: string): string {
  return (Array.from(name.trim())[0] ?? '?').toUpperCase()
}
