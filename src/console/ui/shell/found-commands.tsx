import { useDebouncedValue } from '@mantine/hooks'
import { IconBook2, IconBookmark, IconPhone, IconUser } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CallRow } from '../../../calls/reading/call-rows.ts'
import { read } from '../api.ts'
import { to } from '../components/to.ts'
import { useDates } from '../components/use-dates.ts'
import { parseSearch } from '../search-params.ts'
import { useProject } from '../session.ts'
import { readFilters } from '../views/calls/chosen-filters.ts'
import { chartSearch } from '../views/charts/chart-search.ts'

const typingPauseMs = 150
const lettersMin = 2
const callsMax = '5'
const itemsMax = '5'
const othersMax = 5
const iconSize = 16

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

/** What the project has under these letters: calls, knowledge, views and people. What fails is left out. */
export function useFoundCommands(typed: string): CommandGroup[] {
  const [query] = useDebouncedValue(typed, typingPauseMs)
  const isOn = query.length >= lettersMin
  return [useCalls(query, isOn), useItems(query, isOn), useViews(query, isOn), usePeople(query, isOn)]
}

/** By the words of a call, its number or its id, as the search box of the list reads them. */
function useCalls(query: string, isOn: boolean): CommandGroup {
  const { of } = useProject()
  const navigate = useNavigate()
  const dates = useDates()
  const { data } = useQuery({
    ...read(of.calls, { text: query, limit: callsMax }),
    enabled: isOn,
    placeholderData: keepPreviousData,
  })
  const rows = isOn ? (data?.data ?? []) : []
  return {
    title: 'Calls',
    commands: rows.map((row) => ({
      id: `call-${row.id}`,
      label: <CallLabel row={row} />,
      icon: <IconPhone size={iconSize} />,
      keys: dates.moment(row.createdAt),
      run: () => void navigate(to.call(row.id)),
    })),
  }
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

function useItems(query: string, isOn: boolean): CommandGroup {
  const { of } = useProject()
  const navigate = useNavigate()
  const { data } = useQuery({
    ...read(of.knowledge, { name: query, limit: itemsMax }),
    enabled: isOn,
    placeholderData: keepPreviousData,
  })
  const rows = isOn ? (data?.data ?? []) : []
  return {
    title: 'Knowledge items',
    commands: rows.map(({ id, name }) => ({
      id: `item-${id}`,
      label: <bdi>{name}</bdi>,
      icon: <IconBook2 size={iconSize} />,
      run: () => void navigate(to.item(id)),
    })),
  }
}

function useViews(query: string, isOn: boolean): CommandGroup {
  const { id: project, of } = useProject()
  const navigate = useNavigate()
  const { data } = useQuery({ ...read(of.views), enabled: isOn })
  const commands = (data?.data ?? []).map((view) => ({
    id: `view-${view.id}`,
    label: <bdi>{view.name}</bdi>,
    words: view.name,
    icon: <IconBookmark size={iconSize} />,
    run: () => {
      const kept = parseSearch(view.query)
      if (view.page === 'chart')
        void navigate({ to: '/p/$project/overview/chart', params: { project }, search: chartSearch(kept) })
      else void navigate({ to: '/p/$project/calls', params: { project }, search: readFilters(kept) })
    },
  }))
  return { title: 'Views', commands: isOn ? matching(commands, query).slice(0, othersMax) : [] }
}

/** For owners, who may see them. */
function usePeople(query: string, isOn: boolean): CommandGroup {
  const { role, of } = useProject()
  const navigate = useNavigate()
  const isAllowed = isOn && role === 'owner'
  const { data } = useQuery({ ...read(of.people), enabled: isAllowed })
  const commands = (data?.members ?? []).map(({ personId, name, email }) => ({
    id: `person-${personId}`,
    label: (
      <>
        <bdi>{name}</bdi> <span className="cb-dimmed">{email}</span>
      </>
    ),
    words: `${name} ${email}`,
    icon: <IconUser size={iconSize} />,
    run: () => void navigate(to.people),
  }))
  return { title: 'People', commands: isAllowed ? matching(commands, query).slice(0, othersMax) : [] }
}

/** The commands that have every word of the query. */
export function matching(commands: readonly NamedCommand[], query: string): NamedCommand[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean)
  return commands.filter(({ words }) => wanted.every((word) => words.toLowerCase().includes(word)))
}
