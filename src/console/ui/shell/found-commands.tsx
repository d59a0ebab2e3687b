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
    id: `call-${row.id}`,
    label: <CallLabel row={row} />,
    icon: <IconPhone size={iconSize} />,
    keys: dates.moment(row.createdAt),
    run: () => navigate(to.call(row.id)),
  }))
  const itemCommands = items?.data.map(({ id, name }) => ({
    id: `item-${id}`,
    label: <bdi>{name}</bdi>,
    icon: <IconBook2 size={iconSize} />,
    run: () => navigate(to.item(id)),
  }))
  const viewCommands = views?.data.map(({ id, name, page, query: kept }) => ({
    id: `view-${id}`,
    label: <bdi>{name}</bdi>,
    words: name,
    icon: <IconBookmark size={iconSize} />,
    run: () =>
      page === 'chart'
        ? navigate({ ...to.chart, search: chartSearch(parseSearch(kept)) })
        : navigate({ ...to.calls, search: readFilters(parseSearch(kept)) }),
  }))
  const peopleCommands = people?.members.map(({ personId, name, email }) => ({
    id: `person-${personId}`,
    label: (
      <>
        <bdi>{name}</bdi> <span className="cb-dimmed">{email}</span>
      </>
    ),
    words: `${name} ${email}`,
    icon: <IconUser size={iconSize} />,
    run: () => navigate(to.people),
  }))
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
