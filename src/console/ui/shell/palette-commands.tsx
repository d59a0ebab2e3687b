import { Text, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import {
  type Icon,
  IconArrowRight,
  IconArrowsLeftRight,
  IconBook,
  IconBook2,
  IconBookmark,
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
  IconUser,
  IconUserCircle,
} from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type MouseEvent, type ReactNode, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { CallRow } from '../../../calls/reading/call-rows.ts'
import { read } from '../api.ts'
import { to } from '../components/to.ts'
import { useDates } from '../components/use-dates.ts'
import { parseSearch } from '../search-params.ts'
import { useOwnsConsole, useProject, useProjects } from '../session.ts'
import { useCallLinks } from '../views/calls/call-links.ts'
import { readFilters } from '../views/calls/chosen-filters.ts'
import { chartSearch } from '../views/charts/chart-search.ts'
import classes from './command-palette.module.css'
import {
  accountPage,
  comparePage,
  pages,
  questionsPage,
  servicePage,
  settingsPage,
  settingsPagesFor,
} from './pages.ts'
import { PaletteField, type PaletteFieldProps } from './palette-field.tsx'
import { useShellActions } from './shell-actions.ts'
import { signOut } from './sign-out.ts'

const iconSize = 16
const callId = /^[A-Za-z0-9._:-]{1,128}$/

interface CommandsProps extends PaletteFieldProps {
  onClose: () => void
}

/** The field of the palette and the commands that it finds. */
export default function Commands({ query, onQuery, onClose }: CommandsProps) {
  const id = useId()
  /** Its id, since what is found may come before it. */
  const [chosen, setChosen] = useState<string | null>(null)
  const isMoved = usePointerMoved()
  const wanted = query.trim()
  const fixed = {
    'This call': useLinkCommands(),
    'Go to': usePageCommands(),
    Projects: useProjectCommands(),
    Do: useOtherCommands(),
  }
  // What is found comes last, so that little moves under the cursor when it arrives.
  const groups = [
    ...Object.entries(fixed).map(([title, commands]) => ({
      title,
      commands: matching(commands.map(named), wanted),
    })),
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
  const optionId = (command: Command) => `${id}-${shown.indexOf(command)}`
  return (
    <>
      <PaletteField
        query={query}
        onQuery={(typed) => {
          onQuery(typed)
          setChosen(null)
        }}
        aria-controls={`${id}-list`}
        aria-activedescendant={current && optionId(current)}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Commands" className={classes.list}>
        {groups.map(({ title, commands }) => (
          <div key={title}>
            <Text size="xs" fw={500} c="dimmed" px="sm" pt="xs" pb={4} aria-hidden>
              {title}
            </Text>
            {commands.map((command) => (
              <UnstyledButton
                key={command.id}
                id={optionId(command)}
                ref={command === current ? scrollToIt : undefined}
                role="option"
                tabIndex={-1}
                aria-selected={command === current}
                className={classes.option}
                onMouseMove={(event) => isMoved(event) && setChosen(command.id)}
                onClick={() => run(command)}
              >
                {command.icon}
                <Text span inherit truncate flex={1} dir="auto">
                  {command.label}
                </Text>
                {command.keys && <span className="cb-note">{command.keys}</span>}
              </UnstyledButton>
            ))}
          </div>
        ))}
      </div>
      {shown.length === 0 && (
        <Text c="dimmed" px="md" pb="md">
          No results
        </Text>
      )}
    </>
  )
}

/**
 * Tells whether the pointer has moved since the event before. Browsers also send events of a pointer at rest, when the
 * page changes under it.
 */
function usePointerMoved(): ({ clientX, clientY }: MouseEvent) => boolean {
  const last = useRef<string | null>(null)
  return ({ clientX, clientY }) => {
    const [before, now] = [last.current, `${clientX} ${clientY}`]
    last.current = now
    return before !== null && before !== now
  }
}

/** A command of the palette itself, which is found by its label and other words. */
interface OwnCommand {
  id: string
  label: string
  icon: Icon
  words?: string
  keys?: string
  run: () => unknown
}

function named({ icon, words = '', id, label, run, ...more }: OwnCommand): NamedCommand {
  return { ...more, ...command(id, label, icon, run), words: `${label} ${words}` }
}

function command(id: string, label: ReactNode, Drawn: Icon, run: () => unknown): Command {
  return { id, label, icon: <Drawn size={iconSize} />, run }
}

function scrollToIt(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' })
}

/** The query may be a call's id or words of a call. */
function useCallCommands(query: string): CommandGroup {
  const navigate = useNavigate()
  const open = command('open-call', `Open call ${query}`, IconPhone, () => navigate(to.call(query)))
  const search = command('search-calls', `Find calls with “${query}”`, IconSearch, () =>
    navigate({ ...to.calls, search: { text: query } }),
  )
  const isWord = /[\p{L}\p{N}]/u.test(query)
  // Text with a digit may be an id; a plain word is more likely to be searched for.
  const isId = callId.test(query) && /\d/.test(query)
  return { title: 'Search', commands: [...(isId ? [open] : []), ...(isWord ? [search] : [])] }
}

/** Of the call that is open. */
function useLinkCommands(): OwnCommand[] {
  return useCallLinks().map(({ label, copy }) => ({ id: label, label, icon: IconLink, run: copy }))
}

function usePageCommands(): OwnCommand[] {
  const navigate = useNavigate()
  const { id: project, role } = useProject()
  const own = useOwnsConsole() ? [accountPage, servicePage] : [accountPage]
  const all = [
    ...pages.map(({ key, ...page }) => ({ ...page, keys: `G ${key.toUpperCase()}` })),
    { ...comparePage, icon: IconArrowsLeftRight, words: 'versions better' },
    { ...questionsPage, icon: IconMessageQuestion, words: 'gaps golden' },
    ...settingsPagesFor(role).map(({ to, label }) => ({
      to,
      label: `${settingsPage.label}: ${label}`,
      icon: settingsPage.icon,
    })),
    ...own.map((page) => ({ ...page, icon: IconUserCircle, words: 'settings' })),
  ]
  return all.map(({ to, ...page }) => ({
    ...page,
    id: to,
    run: () => navigate({ to, params: { project } }),
  }))
}

function useProjectCommands(): OwnCommand[] {
  const navigate = useNavigate()
  const { openNewProject } = useShellActions()
  const { id: open } = useProject()
  const others = useProjects().filter(({ id }) => id !== open)
  return [
    ...others.map(({ id, name }) => ({
      id,
      label: `Switch to ${name}`,
      words: id,
      icon: IconFolder,
      run: () => navigate({ to: '/p/$project/overview', params: { project: id } }),
    })),
    { id: 'new-project', label: 'Create project', icon: IconPlus, run: openNewProject },
  ]
}

function useOtherCommands(): OwnCommand[] {
  const navigate = useNavigate()
  const { openShortcuts } = useShellActions()
  const { role } = useProject()
  const { colorScheme, setColorScheme, toggleColorScheme } = useMantineColorScheme()
  const open = (address: string) => () => window.open(address, '_blank', 'noopener')
  const newItem = () => navigate(to.newItem)
  const newKey = () => navigate({ ...to.keys, search: { create: 'key' } })
  const newWebhook = () => navigate({ ...to.webhooks, search: { create: 'webhook' } })
  const theme = 'Theme: switch between light and dark'
  const themeIcon = colorScheme === 'dark' ? IconSun : IconMoon
  const rows: [isOffered: boolean, label: string, Icon, run: () => unknown, words?: string][] = [
    [role !== 'viewer', 'New knowledge item', IconPlus, newItem],
    [role === 'owner', 'Create API key', IconKey, newKey],
    [role === 'owner', 'Create webhook', IconPlus, newWebhook],
    [true, theme, themeIcon, toggleColorScheme, 'toggle'],
    [colorScheme !== 'auto', 'Theme: match system', IconArrowRight, () => setColorScheme('auto')],
    [true, 'Keyboard shortcuts', IconKeyboard, openShortcuts],
    [true, 'Guide', IconBook, open('/docs/guide'), 'help manual'],
    [true, 'API documentation', IconBook, open('/docs')],
    [true, 'Sign out', IconLogout, signOut],
  ]
  return rows.flatMap(([isOffered, label, icon, run, words = '']) =>
    isOffered ? [{ id: label, label, icon, run, words }] : [],
  )
}

const typingPauseMs = 150
const lettersMin = 2
const callsMax = '5'
const itemsMax = '5'
const othersMax = 5

/** What the palette can do. */
export interface Command {
  id: string
  label: ReactNode
  icon: ReactNode
  /** On the right: the keys that do the same, or when something was. */
  keys?: string
  run: () => unknown
}

export interface NamedCommand extends Command {
  /** What it is found by. */
  words: string
}

export interface CommandGroup {
  title: string
  commands: Command[]
}

/**
 * What the project has under these letters: calls, as the search box of the list reads them, knowledge, views and, for
 * owners, people. What fails is left out.
 */
export function useFoundCommands(typed: string): CommandGroup[] {
  const [query] = useDebouncedValue(typed, typingPauseMs)
  const { of, role } = useProject()
  const navigate = useNavigate()
  const dates = useDates()
  const enabled = query.length >= lettersMin
  const found = { enabled, placeholderData: keepPreviousData }
  const { data: calls } = useQuery({ ...read(of.calls, { text: query, limit: callsMax }), ...found })
  const { data: items } = useQuery({ ...read(of.knowledge, { name: query, limit: itemsMax }), ...found })
  const { data: views } = useQuery({ ...read(of.views), enabled })
  const { data: people } = useQuery({ ...read(of.people), enabled: enabled && role === 'owner' })
  if (!enabled) return []
  const callCommands = calls?.data.map((row) => ({
    ...command(`call-${row.id}`, <CallLabel row={row} />, IconPhone, () => navigate(to.call(row.id))),
    keys: dates.moment(row.createdAt),
  }))
  const itemCommands = items?.data.map(({ id, name }) =>
    command(`item-${id}`, <bdi>{name}</bdi>, IconBook2, () => navigate(to.item(id))),
  )
  const viewCommands = views?.data.map(({ id, name, page, query: kept }) => ({
    words: name,
    ...command(`view-${id}`, <bdi>{name}</bdi>, IconBookmark, () =>
      page === 'chart'
        ? navigate({ ...to.chart, search: chartSearch(parseSearch(kept)) })
        : navigate({ ...to.calls, search: readFilters(parseSearch(kept)) }),
    ),
  }))
  const peopleCommands = people?.members.map(({ personId, name, email }) => {
    const label = (
      <>
        <bdi>{name}</bdi> <span className="cb-dimmed">{email}</span>
      </>
    )
    const words = `${name} ${email}`
    return { words, ...command(`person-${personId}`, label, IconUser, () => navigate(to.people)) }
  })
  const some = (commands: NamedCommand[] = []) => matching(commands, query).slice(0, othersMax)
  return [
    { title: 'Calls', commands: callCommands ?? [] },
    { title: 'Knowledge items', commands: itemCommands ?? [] },
    { title: 'Views', commands: some(viewCommands) },
    { title: 'People', commands: role === 'owner' ? some(peopleCommands) : [] },
  ]
}

function CallLabel({ row: { id, numbers, summary, said } }: { row: CallRow }) {
  return (
    <>
      {numbers.callerNumber ?? numbers.calledNumber ?? id}
      {(summary ?? said) && (
        <span className="cb-dimmed">
          {' · '}
          <bdi>{summary ?? said}</bdi>
        </span>
      )}
    </>
  )
}

/** The commands that have every word of the query. */
export function matching(commands: readonly NamedCommand[], query: string): NamedCommand[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean)
  return commands.filter(({ words }) => wanted.every((word) => words.toLowerCase().includes(word)))
}
