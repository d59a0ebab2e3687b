import { useMantineColorScheme } from '@mantine/core'
import { Spotlight, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight'
import {
  IconArrowRight,
  IconBook,
  IconFolder,
  IconKey,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconPhone,
  IconPlus,
  IconSearch,
  IconSun,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useProject, useProjects } from '../session.ts'
import { pages, settingsPage } from './pages.ts'
import { settingsPages } from './settings-pages.ts'
import { useShellActions } from './shell-actions.ts'
import { signOut } from './sign-out.ts'

const iconSize = 16
/** The form of a call id. */
const callId = /^[A-Za-z0-9._:-]{1,128}$/

interface CommandPaletteProps {
  /** Opens the palette whenever it changes. */
  asked: number
}

/** Goes to a page, a call or a project, and offers actions that have no button on every page. */
export function CommandPalette({ asked }: CommandPaletteProps) {
  const [query, setQuery] = useState('')
  const groups = [usePageActions(), useProjectActions(), useOtherActions(), useCallActions(query.trim())]
  useEffect(() => {
    if (asked > 0) spotlight.open()
  }, [asked])
  return (
    <Spotlight
      actions={groups.filter(({ actions }) => actions.length > 0)}
      shortcut={null}
      attributes={{ content: { 'aria-label': 'Commands' } }}
      query={query}
      onQueryChange={setQuery}
      nothingFound="Nothing found"
      overlayProps={{ blur: 0, backgroundOpacity: 0.4 }}
      scrollable
      maxHeight={420}
      searchProps={{
        leftSection: <IconSearch size={iconSize} aria-hidden />,
        placeholder: 'Go to a page or project, or find a call by id or words',
        'aria-label': 'Search commands',
      }}
    />
  )
}

/** The query may be a call's id or words of a call; passed as `keywords`, so that the filter always keeps it. */
function useCallActions(query: string): SpotlightActionGroupData {
  const navigate = useNavigate()
  const { id: project } = useProject()
  const open = {
    id: 'open-call',
    label: `Open call ${query}`,
    keywords: query,
    leftSection: <IconPhone size={iconSize} />,
    onClick: () => void navigate({ to: '/p/$project/calls/$call', params: { project, call: query } }),
  }
  const search = {
    id: 'search-calls',
    label: `Find calls with “${query}”`,
    keywords: query,
    leftSection: <IconSearch size={iconSize} />,
    onClick: () => void navigate({ to: '/p/$project/calls', params: { project }, search: { text: query } }),
  }
  const isWord = /[\p{L}\p{N}]/u.test(query)
  // Text with a digit may be an id; a plain word is more likely to be searched for.
  const isId = callId.test(query) && /\d/.test(query)
  return { group: 'Calls', actions: [...(isId ? [open] : []), ...(isWord ? [search] : [])] }
}

function usePageActions(): SpotlightActionGroupData {
  const navigate = useNavigate()
  const { id: project, role } = useProject()
  const settings = settingsPages.filter(({ ownersOnly }) => role === 'owner' || !ownersOnly)
  return {
    group: 'Go to',
    actions: [
      ...pages.map(({ to, label, icon: Icon, key }) => ({
        id: to,
        label,
        leftSection: <Icon size={iconSize} />,
        rightSection: <span className="cb-palette-keys">G {key.toUpperCase()}</span>,
        onClick: () => void navigate({ to, params: { project } }),
      })),
      ...settings.map(({ to, label }) => ({
        id: to,
        label: `${settingsPage.label}: ${label}`,
        leftSection: <settingsPage.icon size={iconSize} />,
        onClick: () => void navigate({ to, params: { project } }),
      })),
    ],
  }
}

function useProjectActions(): SpotlightActionGroupData {
  const navigate = useNavigate()
  const { openNewProject } = useShellActions()
  const { id: open } = useProject()
  const others = useProjects().filter(({ id }) => id !== open)
  return {
    group: 'Projects',
    actions: [
      ...others.map(({ id, name }) => ({
        id,
        label: `Switch to ${name}`,
        keywords: [id],
        leftSection: <IconFolder size={iconSize} />,
        onClick: () => void navigate({ to: '/p/$project/overview', params: { project: id } }),
      })),
      {
        id: 'new-project',
        label: 'Create project',
        leftSection: <IconPlus size={iconSize} />,
        onClick: openNewProject,
      },
    ],
  }
}

function useOtherActions(): SpotlightActionGroupData {
  const navigate = useNavigate()
  const { openShortcuts } = useShellActions()
  const { id: project, role } = useProject()
  const { colorScheme, setColorScheme, toggleColorScheme } = useMantineColorScheme()
  const key = {
    id: 'create-key',
    label: 'Create API key',
    leftSection: <IconKey size={iconSize} />,
    onClick: () =>
      void navigate({ to: '/p/$project/settings/keys', params: { project }, search: { create: 'key' } }),
  }
  const system = {
    id: 'theme-system',
    label: 'Theme: same as system',
    leftSection: <IconArrowRight size={iconSize} />,
    onClick: () => setColorScheme('auto'),
  }
  return {
    group: 'Do',
    actions: [
      ...(role === 'owner' ? [key] : []),
      {
        id: 'theme',
        label: 'Theme: switch between light and dark',
        keywords: ['dark', 'light', 'toggle'],
        leftSection: colorScheme === 'dark' ? <IconSun size={iconSize} /> : <IconMoon size={iconSize} />,
        onClick: toggleColorScheme,
      },
      ...(colorScheme === 'auto' ? [] : [system]),
      {
        id: 'shortcuts',
        label: 'Keyboard shortcuts',
        leftSection: <IconKeyboard size={iconSize} />,
        onClick: openShortcuts,
      },
      {
        id: 'guide',
        label: 'Guide',
        keywords: ['help', 'manual'],
        leftSection: <IconBook size={iconSize} />,
        onClick: () => void window.open('/docs/guide', '_blank', 'noopener'),
      },
      {
        id: 'docs',
        label: 'API documentation',
        leftSection: <IconBook size={iconSize} />,
        onClick: () => void window.open('/docs', '_blank', 'noopener'),
      },
      {
        id: 'sign-out',
        label: 'Sign out',
        leftSection: <IconLogout size={iconSize} />,
        onClick: () => void signOut(),
      },
    ],
  }
}
