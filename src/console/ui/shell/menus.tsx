import { Menu, useMantineColorScheme } from '@mantine/core'
import {
  type Icon,
  IconBook,
  IconCheck,
  IconDeviceDesktop,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconPlus,
  IconServer,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { Avatar } from '../components/avatar.tsx'
import type { PopupProps } from '../components/popup.tsx'
import { useOwnsConsole, usePerson, useProject, useProjects } from '../session.ts'
import { accountPage, servicePage } from './pages.ts'
import { useShellActions } from './shell-actions.ts'
import { signOut } from './sign-out.ts'

const themes = [
  { scheme: 'light', label: 'Light', icon: IconSun },
  { scheme: 'dark', label: 'Dark', icon: IconMoon },
  { scheme: 'auto', label: 'Match system', icon: IconDeviceDesktop },
] as const

const documents = [
  ['Guide', '/docs/guide'],
  ['API documentation', '/docs'],
] as const

interface PersonMenuProps extends PopupProps {
  onFollow: (() => void) | undefined
}

/** The signed-in person's menu. */
export function PersonMenu({ onFollow, target, ...popup }: PersonMenuProps) {
  const { email } = usePerson()
  const { id: project } = useProject()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { openShortcuts } = useShellActions()
  const navigate = useNavigate()
  const item = (label: string, Drawn: Icon, run: () => unknown, more = {}) => (
    <Menu.Item key={label} leftSection={<Drawn size={16} />} onClick={run} {...more}>
      {label}
    </Menu.Item>
  )
  const follow = (run: () => unknown) => () => {
    onFollow?.()
    run()
  }
  const open = ({ to }: typeof accountPage | typeof servicePage) =>
    follow(() => navigate({ to, params: { project } }))
  const chosen = { rightSection: <IconCheck size={14} aria-label="chosen" /> }
  return (
    <Menu position="top-start" width={248} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className="cb-truncate">{email}</Menu.Label>
        {item(accountPage.label, IconUserCircle, open(accountPage))}
        {useOwnsConsole() && item(servicePage.label, IconServer, open(servicePage))}
        {item('Keyboard shortcuts', IconKeyboard, follow(openShortcuts))}
        {documents.map(([label, href]) => (
          <Menu.Item
            key={href}
            leftSection={<IconBook size={16} />}
            component="a"
            href={href}
            target="_blank"
            rel="noopener"
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>Theme</Menu.Label>
        {themes.map(({ scheme, label, icon }) =>
          item(label, icon, () => setColorScheme(scheme), colorScheme === scheme ? chosen : {}),
        )}
        <Menu.Divider />
        {item('Sign out', IconLogout, signOut)}
      </Menu.Dropdown>
    </Menu>
  )
}

interface ProjectMenuProps extends PopupProps {
  onFollow: (() => void) | undefined
}

/** The person's projects. */
export function ProjectMenu({ onFollow, target, ...popup }: ProjectMenuProps) {
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
