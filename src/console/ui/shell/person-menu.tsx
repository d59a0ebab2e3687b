import { Menu, useMantineColorScheme } from '@mantine/core'
import {
  IconBook,
  IconCheck,
  IconDeviceDesktop,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconServer,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { PopupProps } from '../components/popup.tsx'
import { useOwnsConsole, usePerson, useProject } from '../session.ts'
import { accountPage, servicePage } from './settings-pages.ts'
import { useShellActions } from './shell-actions.ts'
import { signOut } from './sign-out.ts'

const themes = [
  { scheme: 'light', label: 'Light', icon: IconSun },
  { scheme: 'dark', label: 'Dark', icon: IconMoon },
  { scheme: 'auto', label: 'Match system', icon: IconDeviceDesktop },
] as const

interface PersonMenuProps extends PopupProps {
  onFollow: (() => void) | undefined
}

/** The signed-in person's menu. */
export default function PersonMenu({ onFollow, target, ...popup }: PersonMenuProps) {
  const { email } = usePerson()
  const { id: project } = useProject()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { openShortcuts } = useShellActions()
  const navigate = useNavigate()
  const followed = (then: () => unknown) => () => {
    onFollow?.()
    then()
  }
  return (
    <Menu position="top-start" width={248} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className="cb-truncate">{email}</Menu.Label>
        <Menu.Item
          leftSection={<IconUserCircle size={16} />}
          onClick={followed(() => navigate({ to: accountPage.to, params: { project } }))}
        >
          {accountPage.label}
        </Menu.Item>
        {useOwnsConsole() && (
          <Menu.Item
            leftSection={<IconServer size={16} />}
            onClick={followed(() => navigate({ to: servicePage.to, params: { project } }))}
          >
            {servicePage.label}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={followed(openShortcuts)}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item
          leftSection={<IconBook size={16} />}
          component="a"
          href="/docs/guide"
          target="_blank"
          rel="noopener"
        >
          Guide
        </Menu.Item>
        <Menu.Item
          leftSection={<IconBook size={16} />}
          component="a"
          href="/docs"
          target="_blank"
          rel="noopener"
        >
          API documentation
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Theme</Menu.Label>
        {themes.map(({ scheme, label, icon: Icon }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon size={16} />}
            rightSection={colorScheme === scheme ? <IconCheck size={14} aria-label="chosen" /> : undefined}
            onClick={() => setColorScheme(scheme)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
