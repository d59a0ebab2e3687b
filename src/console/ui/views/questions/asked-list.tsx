import { Select, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { AskedQuestion, QuestionState } from '../../../../knowledge/questions/question-groups.ts'
import { asCount, asPercent } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Problem } from '../../components/problem.tsx'
import { usePerson } from '../../session.ts'
import { QuestionDetail } from './question-detail.tsx'
import { askedQuery, questionPeopleQuery, useMark } from './question-queries.ts'
import classes from './questions.module.css'

/** As many as the service lists. */
const listedMax = 200

interface AskedListProps {
  project: string
  state: QuestionState
  /** The open question's. */
  id: string | undefined
  assignee: string | undefined
  /** How many questions have the state, whoever they are assigned to. */
  total: number | undefined
  onShow: (next: { question?: string | undefined; assignee?: string | undefined }) => void
  /** Shown when there are none, whoever they are assigned to. */
  empty: ReactNode
}

/** Questions of a state. One of them is open; once it has left the list, the next one opens. */
export function AskedList({ project, state, id, assignee, total, onShow, empty }: AskedListProps) {
  const queryClient = useQueryClient()
  const { queryKey, ...query } = askedQuery(project, state, assignee)
  const asked = useQuery({ queryKey, ...query })
  const rows = useRows(asked.data, id)
  const mark = useMark()
  const frame = useRef<HTMLDivElement>(null)
  const hasMoved = useRef(false)
  useEffect(() => {
    if (!hasMoved.current || id === undefined) return
    hasMoved.current = false
    const row = frame.current?.querySelector<HTMLElement>('tr[data-row][data-selected]')
    row?.focus({ preventScroll: true })
  }, [id])
  const shown = useRef({ id, assignee })
  useEffect(() => {
    shown.current = { id, assignee }
  }, [id, assignee])
  if (asked.error && !asked.data) return <Problem error={asked.error} onRetry={() => void asked.refetch()} />
  const openNext = () => {
    const at = rows?.findIndex((row) => row.id === id) ?? -1
    hasMoved.current = true
    onShow({ question: (rows?.[at + 1] ?? rows?.[at - 1])?.id, assignee })
  }
  const change = (to: Parameters<typeof mark.mutate>[0]) =>
    mark.mutate(to, {
      onSuccess: () => {
        // The person may have gone on meanwhile.
        if (shown.current.id !== to.id || shown.current.assignee !== assignee) return
        const now = queryClient.getQueryData(queryKey)
        if (!now?.some((row) => row.id === to.id)) openNext()
      },
    })
  return (
    <div ref={frame} className={classes.list}>
      <AssigneeFilter
        project={project}
        value={assignee}
        onChange={(chosen) => onShow({ question: undefined, assignee: chosen })}
      />
      <ListTable
        label="Questions"
        rows={rows}
        rowKey={(row) => row.id}
        isStale={asked.isPlaceholderData}
        columns={columnsOf(state)}
        selectedKey={id ?? null}
        onOpen={(row) => onShow({ question: row.id, assignee })}
        onClose={() => onShow({ question: undefined, assignee })}
        renderBelow={(row) =>
          row.id === id && (
            <QuestionDetail
              key={row.id}
              project={project}
              question={row}
              isPending={mark.isPending}
              onChange={(to) => change({ id: row.id, ...to })}
            />
          )
        }
        empty={
          assignee === undefined ? empty : <p className="cb-dimmed">No question is assigned like this.</p>
        }
      />
      {asked.data?.length === listedMax && (
        <p className="cb-dimmed">
          {assignee === undefined && total !== undefined
            ? `The ${listedMax} most asked of ${asCount(total)}.`
            : `The ${listedMax} most asked.`}
        </p>
      )}
    </div>
  )
}

/** The rows, with the open one where it was: it may have left the list while somebody works on it. */
function useRows(rows: AskedQuestion[] | undefined, id: string | undefined): AskedQuestion[] | undefined {
  const [open, setOpen] = useState<{ row: AskedQuestion; at: number } | null>(null)
  const at = rows?.findIndex((row) => row.id === id) ?? -1
  const row = rows?.[at]
  if (row && (open?.row !== row || open.at !== at)) setOpen({ row, at })
  if (!rows || row || open === null || open.row.id !== id) return rows
  return rows.toSpliced(open.at, 0, open.row)
}

interface AssigneeFilterProps {
  project: string
  value: string | undefined
  onChange: (assignee: string | undefined) => void
}

function AssigneeFilter({ project, value, onChange }: AssigneeFilterProps) {
  const me = usePerson()
  const { data: people = [] } = useQuery(questionPeopleQuery(project))
  const others = people.filter(({ id }) => id !== me.id)
  return (
    <Select
      aria-label="Assigned to"
      size="xs"
      className={classes.filter}
      allowDeselect={false}
      value={value ?? ''}
      data={[
        { value: '', label: 'Assigned to anyone' },
        { value: me.id, label: 'Assigned to me' },
        { value: 'none', label: 'Assigned to nobody' },
        ...others.map(({ id, name }) => ({ value: id, label: `Assigned to ${name}` })),
      ]}
      onChange={(chosen) => onChange(chosen || undefined)}
    />
  )
}

function columnsOf(state: QuestionState): Column<AskedQuestion>[] {
  const item: Column<AskedQuestion> = {
    key: 'item',
    header: state === 'answered' ? 'Answered by' : 'Nearest item',
    width: '24%',
    from: 640,
    render: (question) => question.item && <bdi>{question.item.name}</bdi>,
  }
  const covered: Column<AskedQuestion> = {
    key: 'covered',
    header: 'Covered',
    width: '84px',
    align: 'right',
    from: 480,
    render: ({ coverage }) => (coverage === null ? '' : asPercent(coverage)),
  }
  const since: Column<AskedQuestion> = {
    key: 'since',
    header: 'Answered since',
    width: '130px',
    from: 480,
    render: ({ answeredSince }) => answeredSince && <Instant at={answeredSince} />,
  }
  const assigned: Column<AskedQuestion> = {
    key: 'assignee',
    header: 'Assigned to',
    width: '130px',
    from: 800,
    render: ({ assignee }) => assignee && <bdi>{assignee.name}</bdi>,
  }
  return [
    { key: 'query', header: 'Question', render: ({ query }) => <Query text={query} /> },
    item,
    ...(state === 'answered' ? [since] : [covered, assigned]),
    {
      key: 'count',
      header: 'Asked',
      width: '72px',
      align: 'right',
      render: ({ count }) => asCount(count),
    },
    {
      key: 'last',
      header: 'Last',
      width: '110px',
      from: 640,
      render: ({ lastAt }) => <Instant at={lastAt} />,
    },
  ]
}

function Query({ text }: { text: string }) {
  return (
    <Text size="sm" lineClamp={2} dir="auto" className={classes.query}>
      {text}
    </Text>
  )
}
