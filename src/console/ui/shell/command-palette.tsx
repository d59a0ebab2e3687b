import { UnstyledButton, useMantineColorScheme } from '@mantine/core'
import {
  IconArrowRight,
  IconBook,
  IconFolder,
  IconKey,
  IconKeyboard,
  IconLink,
  IconLogout,
  IconMessageQuestion,
  IconMoon,
  IconPhone,
  IconPlus,
  IconSearch,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type MouseEvent, useId, useState } from 'react'
import { flushSync } from 'react-dom'
import { useOwnsConsole, useProject, useProjects } from '../session.ts'
import { useCallLinks } from '../views/calls/call-links.ts'
import classes from './command-palette.module.css'
import {
  type Command,
  type CommandGroup,
  matching,
  type NamedCommand,
  useFoundCommands,
} from './found-commands.tsx'
import { pages, settingsPage } from './pages.ts'
import { accountPage, servicePage, settingsPagesFor } from './settings-pages.ts'
import { useShellActions } from './shell-actions.ts'
import { signOut } from './sign-out.ts'

const iconSize = 16
/** The form of a call id. */
const callId = /^[A-Za-z0-9._:-]{1,128}$/

/**
 * Goes to a page, a call or a project, and offers actions that have no button on every page. It does without the
 * component library's dialog, so that it opens without loading code.
 */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const onClick = ({ target, currentTarget }: MouseEvent) => target === currentTarget && onClose()
  const onKeyDown = (event: KeyboardEvent) => {
    // The focus stays in the field, the only control.
    if (event.key === 'Tab') event.preventDefault()
    if (event.key !== 'Escape') return
    event.stopPropagation()
    onClose()
  }
  return (
    <div
      role="dialog"
      aria-modal
      aria-label="Commands"
      className={classes.overlay}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      <div className={classes.palette}>
        <Commands onClose={onClose} />
      </div>
    </div>
  )
}

function Commands({ onClose }: { onClose: () => void }) {
  const id = useId()
  const [query, setQuery] = useState('')
  /** Its id, since what is found may come before it. */
  const [chosen, setChosen] = useState<string | null>(null)
  const wanted = query.trim()
  const fixed = [useLinkCommands(), usePageCommands(), useProjectCommands(), useOtherCommands()]
  // What is found comes last, so that little moves under the cursor when it arrives.
  const groups = [
    ...fixed.map(({ title, commands }) => ({ title, commands: matching(commands.map(withWords), wanted) })),
    useCallCommands(wanted),
    ...useFoundCommands(wanted),
  ].filter(({ commands }) => commands.length > 0)
  const shown = groups.flatMap(({ commands }) => commands)
  const current = shown.find((command) => command.id === chosen) ?? shown[0]
  const run = (command: Command | undefined) => {
    if (!command) return
    // Synchronously, so that the focus is back before the command runs.
    flushSync(onClose)
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && current) {
      event.preventDefault()
      setChosen(shown.at((shown.indexOf(current) + step) % shown.length)?.id ?? null)
    }
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault()
      run(current)
    }
  }
  const optionId = (command: Command) => `${id}-${command.id}`
  return (
    <>
      <div className={classes.search}>
        <IconSearch size={iconSize} aria-hidden />
        <input
          ref={focusIt}
          role="combobox"
          aria-label="Search commands"
          aria-expanded
          aria-autocomplete="list"
          aria-controls={`${id}-list`}
          aria-activedescendant={current && optionId(current)}
          placeholder="Find a page, call, item, view or person"
          autoComplete="off"
          dir="auto"
          spellCheck={false}
          maxLength={500}
          value={query}
          onChange={(event) => {
            setQuery(event.currentTarget.value)
            setChosen(null)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id={`${id}-list`} role="listbox" aria-label="Commands" className={classes.list}>
        {groups.map(({ title, commands }) => (
          <div key={title}>
            <div className={classes.title} aria-hidden>
              {title}
            </div>
            {commands.map((command) => (
              <UnstyledButton
                key={command.id}
                id={optionId(command)}
                ref={command === current ? scrollToIt : undefined}
                role="option"
                tabIndex={-1}
                aria-selected={command === current}
                className={classes.option}
                onMouseMove={() => setChosen(command.id)}
                onClick={() => run(command)}
              >
                {command.icon}
                <span className="cb-truncate" dir="auto">
                  {command.label}
                </span>
                {command.keys && <span className={classes.keys}>{command.keys}</span>}
              </UnstyledButton>
            ))}
          </div>
        ))}
      </div>
      {shown.length === 0 && <p className={classes.none}>No results</p>}
    </>
  )
}

/** A command of the palette itself, which is found by its label and other words. */
interface OwnCommand extends Omit<Command, 'label'> {
  label: string
  words?: string[]
}

interface OwnGroup {
  title: string
  commands: OwnCommand[]
}

function withWords({ words = [], ...command }: OwnCommand): NamedCommand {
  return { ...command, words: [command.label, ...words].join(' ') }
}

function focusIt(field: HTMLElement | null): void {
  field?.focus()
}

function scrollToIt(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' })
}

/** The query may be a call's id or words of a call. */
function useCallCommands(query: string): CommandGroup {
  const navigate = useNavigate()
  const { id: project } = useProject()
  const open = {
    id: 'open-call',
    label: `Open call ${query}`,
    icon: <IconPhone size={iconSize} />,
    run: () => void navigate({ to: '/p/$project/calls/$call', params: { project, call: query } }),
  }
  const search = {
    id: 'search-calls',
    label: `Find calls with “${query}”`,
    icon: <IconSearch size={iconSize} />,
    run: () => void navigate({ to: '/p/$project/calls', params: { project }, search: { text: query } }),
  }
  const isWord = /[\p{L}\p{N}]/u.test(query)
  // Text with a digit may be an id; a plain word is more likely to be searched for.
  const isId = callId.test(query) && /\d/.test(query)
  return { title: 'Search', commands: [...(isId ? [open] : []), ...(isWord ? [search] : [])] }
}

/** Of the call that is open. */
function useLinkCommands(): OwnGroup {
  const commands = useCallLinks().map(({ label, copy }) => ({
    id: label,
    label,
    icon: <IconLink size={iconSize} />,
    run: copy,
  }))
  return { title: 'This call', commands }
}

function usePageCommands(): OwnGroup {
  const navigate = useNavigate()
  const { id: project, role } = useProject()
  const own = useOwnsConsole() ? [accountPage, servicePage] : [accountPage]
  return {
    title: 'Go to',
    commands: [
      ...pages.map(({ to, label, icon: Icon, key }) => ({
        id: to,
        label,
        icon: <Icon size={iconSize} />,
        keys: `G ${key.toUpperCase()}`,
        run: () => void navigate({ to, params: { project } }),
      })),
      {
        id: 'questions',
        label: 'Questions',
        words: ['gaps', 'golden'],
        icon: <IconMessageQuestion size={iconSize} />,
        run: () => void navigate({ to: '/p/$project/questions', params: { project } }),
      },
      ...settingsPagesFor(role).map(({ to, label }) => ({
        id: to,
        label: `${settingsPage.label}: ${label}`,
        icon: <settingsPage.icon size={iconSize} />,
        run: () => void navigate({ to, params: { project } }),
      })),
      ...own.map(({ to, label }) => ({
        id: to,
        label,
        words: ['settings'],
        icon: <IconUserCircle size={iconSize} />,
        run: () => void navigate({ to, params: { project } }),
      })),
    ],
  }
}

function useProjectCommands(): OwnGroup {
  const navigate = useNavigate()
  const { openNewProject } = useShellActions()
  const { id: open } = useProject()
  const others = useProjects().filter(({ id }) => id !== open)
  return {
    title: 'Projects',
    commands: [
      ...others.map(({ id, name }) => ({
        id,
        label: `Switch to ${name}`,
        words: [id],
        icon: <IconFolder size={iconSize} />,
        run: () => void navigate({ to: '/p/$project/overview', params: { project: id } }),
      })),
      {
        id: 'new-project',
        label: 'Create project',
        icon: <IconPlus size={iconSize} />,
        run: openNewProject,
      },
    ],
  }
}

function useOtherCommands(): OwnGroup {
  const navigate = useNavigate()
  const { openShortcuts } = useShellActions()
  const { id: project, role } = useProject()
  const { colorScheme, setColorScheme, toggleColorScheme } = useMantineColorScheme()
  const item = {
    id: 'new-item',
    label: 'New knowledge item',
    icon: <IconPlus size={iconSize} />,
    run: () => void navigate({ to: '/p/$project/new-item', params: { project } }),
  }
  const key = {
    id: 'create-key',
    label: 'Create API key',
    icon: <IconKey size={iconSize} />,
    run: () =>
      void navigate({ to: '/p/$project/settings/keys', params: { project }, search: { create: 'key' } }),
  }
  const webhook = {
    id: 'create-webhook',
    label: 'Create webhook',
    icon: <IconPlus size={iconSize} />,
    run: () =>
      void navigate({
        to: '/p/$project/settings/webhooks',
        params: { project },
        search: { create: 'webhook' },
      }),
  }
  const system = {
    id: 'theme-system',
    label: 'Theme: match system',
    icon: <IconArrowRight size={iconSize} />,
    run: () => setColorScheme('auto'),
  }
  return {
    title: 'Do',
    commands: [
      ...(role === 'viewer' ? [] : [item]),
      ...(role === 'owner' ? [key, webhook] : []),
      {
        id: 'theme',
        label: 'Theme: switch between light and dark',
        words: ['dark', 'light', 'toggle'],
        icon: colorScheme === 'dark' ? <IconSun size={iconSize} /> : <IconMoon size={iconSize} />,
        run: toggleColorScheme,
      },
      ...(colorScheme === 'auto' ? [] : [system]),
      {
        id: 'shortcuts',
        label: 'Keyboard shortcuts',
        icon: <IconKeyboard size={iconSize} />,
        run: openShortcuts,
      },
      {
        id: 'guide',
        label: 'Guide',
        words: ['help', 'manual'],
        icon: <IconBook size={iconSize} />,
        run: () => void window.open('/docs/guide', '_blank', 'noopener'),
      },
      {
        id: 'docs',
        label: 'API documentation',
        icon: <IconBook size={iconSize} />,
        run: () => void window.open('/docs', '_blank', 'noopener'),
      },
      {
        id: 'sign-out',
        label: 'Sign out',
        icon: <IconLogout size={iconSize} />,
        run: () => void signOut(),
      },
    ],
  }
}
