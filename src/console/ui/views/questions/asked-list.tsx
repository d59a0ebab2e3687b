import { Select, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { AskedQuestion, QuestionState } from '../../../../knowledge/questions/question-groups.ts'
import { tagsOf } from '../../../../text/tags.ts'
import { read } from '../../api.ts'
import { asCount, asPercent } from '../../components/figures.ts'
import { QueryTable } from '../../components/table.tsx'
import { usePerson, useProject } from '../../session.ts'
import { TagChips } from '../knowledge/tags-field.tsx'
import { QuestionDetail } from './question-detail.tsx'
import { refetchInterval, useMark } from './question-queries.ts'
import type { QuestionsSearch } from './questions-search.ts'

/** As many as the service lists. */
const listedMax = 200

interface AskedListProps {
  state: QuestionState
  /** Which is open, and whose are listed. */
  search: QuestionsSearch
  /** How many questions have the state, whoever they are assigned to. */
  total: number | undefined
  onShow: (next: QuestionsSearch) => void
  /** Shown when there are none, whoever they are assigned to. */
  empty: ReactNode
}

/** Questions of a state. One of them is open; once it has left the list, the next one opens. */
export function AskedList({ state, search, total, onShow, empty }: AskedListProps) {
  const { of } = useProject()
  const { question: id, assignee, written } = search
  const queryClient = useQueryClient()
  const query = read(of.questions.asked, { state, ...(assignee === undefined ? {} : { assignee }) })
  const questions = useQuery({ ...query, placeholderData: keepPreviousData, refetchInterval })
  const rows = useRows(questions.data, id)
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
  const openNext = () => {
    const at = rows?.findIndex((row) => row.id === id) ?? -1
    hasMoved.current = true
    onShow({ question: (rows?.[at + 1] ?? rows?.[at - 1])?.id, assignee })
  }
  const change = (next: Parameters<typeof mark.mutate>[0]) =>
    mark.mutate(next, {
      onSuccess: () => {
        // The person may have gone on meanwhile.
        if (shown.current.id !== next.id || shown.current.assignee !== assignee) return
        const now = queryClient.getQueryData(query.queryKey)
        if (!now?.some((row) => row.id === next.id)) openNext()
      },
    })
  return (
    <Stack ref={frame} gap="xs">
      <AssigneeFilter value={assignee} onChange={(chosen) => onShow({ assignee: chosen })} />
      <QueryTable
        label="Questions"
        of={questions}
        what="The questions"
        rows={rows}
        rowKey={(row) => row.id}
        isStale={questions.isPlaceholderData}
        selectedKey={id ?? null}
        onOpen={(row) => onShow({ question: row.id, assignee })}
        onClose={() => onShow({ assignee })}
        renderBelow={(row) =>
          row.id === id && (
            <QuestionDetail
              key={row.id}
              question={row}
              written={written}
              isPending={mark.isPending}
              onChange={(changed) => change({ id: row.id, ...changed })}
              onNext={openNext}
            />
          )
        }
        empty={
          assignee === undefined ? empty : <p className="cb-dimmed">No question is assigned like this.</p>
        }
        columns={({ cell, text, when }) => [
          cell('Question', (row) => (
            <Text size="sm" lineClamp={2} dir="auto" className="cb-wrap">
              {row.query}
              <TagChips tags={tagsOf(row.tags)} />
            </Text>
          )),
          cell(state === 'answered' ? 'Answered by' : 'Nearest item', ({ item }) => <bdi>{item?.name}</bdi>, {
            width: '24%',
            from: 640,
          }),
          ...(state === 'answered'
            ? [
                when('Answered since', ({ answeredSince }) => answeredSince, {
                  none: '',
                  width: '130px',
                  from: 480,
                }),
              ]
            : [
                text('Coverage', ({ coverage }) => (coverage === null ? null : asPercent(coverage)), {
                  width: '84px',
                  align: 'right',
                  from: 480,
                }),
                cell('Assigned to', ({ assignee }) => <bdi>{assignee?.name}</bdi>, {
                  width: '130px',
                  from: 800,
                }),
              ]),
          text('Asked', ({ count }) => asCount(count), { width: '72px', align: 'right' }),
          when('Last', ({ lastAt }) => lastAt, { width: '110px', from: 640 }),
        ]}
      />
      {questions.data?.length === listedMax && (
        <p className="cb-dimmed">
          The {listedMax} most asked{assignee === undefined && total !== undefined && ` of ${asCount(total)}`}
          .
        </p>
      )}
    </Stack>
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
  value: string | undefined
  onChange: (assignee: string | undefined) => void
}

function AssigneeFilter({ value, onChange }: AssigneeFilterProps) {
  const me = usePerson()
  const { data: people = [] } = useQuery(read(useProject().of.questions.people))
  return (
    <Select
      aria-label="Assigned to"
      size="xs"
      w={200}
      allowDeselect={false}
      value={value ?? ''}
      data={[
        { value: '', label: 'Assigned to anyone' },
        { value: me.id, label: 'Assigned to me' },
        { value: 'none', label: 'Assigned to nobody' },
        ...people
          .filter(({ id }) => id !== me.id)
          .map(({ id, name }) => ({ value: id, label: `Assigned to ${name}` })),
      ]}
      onChange={(chosen) => onChange(chosen || undefined)}
    />
  )
}
