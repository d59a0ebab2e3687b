import { Button, Group, Select, Skeleton, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { AskedQuestion, QuestionState } from '../../../../knowledge/questions/question-groups.ts'
import type { MarkChange } from '../../../../knowledge/questions/question-marks.ts'
import { tagsOf } from '../../../../text/tags.ts'
import { pathOf, read, unwrap } from '../../api.ts'
import { useKeys } from '../../components/events.ts'
import { asCount, asPercent, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageButton, PageLink } from '../../components/links.tsx'
import { Loaded } from '../../components/page.tsx'
import { Problem } from '../../components/problem.tsx'
import { QueryTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useFocus } from '../../components/use-focus.ts'
import { usePerson, useProject, useRefusal } from '../../session.ts'
import { useItem } from '../knowledge/queries.ts'
import { TagChips } from '../knowledge/tags-field.tsx'
import { KeepButton, PassageList, refetchInterval, useMark } from './questions.tsx'
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
        columns={({ cell, figure, when }) => [
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
                figure('Coverage', ({ coverage }) => coverage !== null && asPercent(coverage), '84px', 480),
                cell('Assigned to', ({ assignee }) => <bdi>{assignee?.name}</bdi>, {
                  width: '130px',
                  from: 800,
                }),
              ]),
          figure('Asked', ({ count }) => asCount(count), '72px'),
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

const callsShown = 5

interface QuestionProps {
  question: AskedQuestion
}

interface QuestionDetailProps extends QuestionProps {
  /** The item that was just written for it. */
  written: string | undefined
  isPending: boolean
  onChange: (change: MarkChange) => void
  /** Opens the next question. */
  onNext: () => void
}

/** What a question finds now, where it was asked, and what to do about it. */
function QuestionDetail({ question: row, written, ...acts }: QuestionDetailProps) {
  const { of } = useProject()
  const detail = useQuery({ ...read(of.questions.asked({ id: row.id })), refetchInterval })
  // The list may still have it as it was.
  const question = detail.data ?? row
  const alike = detail.data?.alike ?? []
  const calls = [...new Set(detail.data?.askings.flatMap(({ callId }) => callId ?? []))]
  return (
    <Stack gap="sm" pt={4} pb="xs" style={{ cursor: 'auto' }}>
      {written && question.mark === null ? (
        <Written question={question} item={written} {...acts} />
      ) : (
        <Said question={question} />
      )}
      <div className="cb-row">
        <Actions question={question} isWritten={written !== undefined} />
        <Marks question={question} {...acts} />
        <Assignee question={question} {...acts} />
      </div>
      <Loaded query={detail} what="The question" waiting={<Skeleton height={120} />}>
        {({ passages }) => (
          <section aria-label="What search finds">
            <PassageList passages={passages} />
          </section>
        )}
      </Loaded>
      {alike.length > 0 && (
        <details>
          <summary>{counted(alike.length, 'similar gap')}</summary>
          <ul>
            {alike.map(({ id, query, count }) => (
              <li key={id}>
                <PageLink {...to.questions} search={{ question: id }} inherit>
                  <bdi>{query}</bdi>
                </PageLink>{' '}
                <span className="cb-dimmed">asked {counted(count, 'time')}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {calls.length > 0 && (
        <p className="cb-dimmed">
          Asked in{' '}
          {calls.slice(0, callsShown).map((call, at) => (
            <span key={call}>
              {at > 0 && ', '}
              <PageLink {...to.call(call)} inherit>
                <bdi>{call}</bdi>
              </PageLink>
            </span>
          ))}
          {calls.length > callsShown && ` and ${counted(calls.length - callsShown, 'more call')}`}
        </p>
      )}
    </Stack>
  )
}

/** Why it is where it is, in a sentence. */
function Said({ question: { state, mark, markedBy, answeredSince, coverage, item } }: QuestionProps) {
  const by = markedBy ? ` by ${markedBy}` : ''
  const covers = coverage !== null && `The best passage covers ${asPercent(coverage)} of it.`
  if (mark === 'dismissed') return <p>Dismissed{by}.</p>
  if (mark === 'answered')
    return (
      <p>
        Marked as answered{by} {answeredSince && <Instant at={answeredSince} />}
      </p>
    )
  if (mark === 'not_answered' && state === 'gap')
    return <p>Marked as not answered{by}. It closes once the item that is found first was changed.</p>
  if (state === 'gap') return <p>{(item && covers) || 'Nothing that was found answers it.'}</p>
  return (
    <p>
      {answeredSince && (
        <>
          Answered since <Instant at={answeredSince} />.{' '}
        </>
      )}
      {covers ||
        'The file of an item that it finds names it, or search found passages by meaning alone: no share says how much of it they cover.'}
    </p>
  )
}

interface WrittenProps extends Omit<QuestionDetailProps, 'written'> {
  item: string
}

/** Says whether the item that was written for a gap answers it, or else asks. */
function Written({ question: { id }, item: itemId, isPending, onChange, onNext }: WrittenProps) {
  const { questions } = useProject().of
  const queryClient = useQueryClient()
  const { data: item } = useItem(itemId)
  const { data, error, refetch } = useQuery({
    queryKey: ['written', id, itemId, item?.changeSeq],
    queryFn: async () => {
      const checked = await unwrap(questions.asked({ id }).check.post({}))
      void queryClient.invalidateQueries({ queryKey: pathOf(questions) })
      return checked
    },
    // Until then, only its words are found.
    enabled: item !== undefined && item.status.state !== 'indexing',
    staleTime: Number.POSITIVE_INFINITY,
  })
  const next = useFocus<HTMLButtonElement>(data?.state ?? null)
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />
  if (!item || !data) return <p role="status">Asking again whether it is answered…</p>
  const covered = asPercent(data.coverage ?? 0)
  if (data.state !== 'gap')
    return (
      <Group gap="xs" role="status">
        <p>
          <strong>Answered{data.coverage !== null && `, ${covered}`}.</strong> “<bdi>{item.name}</bdi>”
          answers it.
        </p>
        <TextButton label="Next question" ref={next} size="compact-sm" onClick={onNext} />
      </Group>
    )
  return (
    <Group gap="xs" role="status">
      <p>
        The best passage covers {covered} of it, too little to close it. Does “<bdi>{item.name}</bdi>” answer
        it?
      </p>
      <Button size="compact-sm" loading={isPending} onClick={() => onChange({ mark: 'answered' })}>
        Yes, it answers it
      </Button>
      <PageButton {...to.item(itemId)} search={{ tab: 'edit' }} variant="default" size="compact-sm">
        No, edit it
      </PageButton>
    </Group>
  )
}

/** What a person may say of a question in each state. */
const marks = {
  gap: [
    { label: 'Mark as answered', mark: 'answered', key: 'a' },
    { label: 'Dismiss', mark: 'dismissed', key: 'd' },
  ],
  answered: [
    { label: 'Mark as not answered', mark: 'not_answered', key: 'a' },
    { label: 'Dismiss', mark: 'dismissed', key: 'd' },
  ],
  dismissed: [{ label: 'Reopen', mark: null, key: 'd' }],
} as const

type MarksProps = Pick<QuestionDetailProps, 'question' | 'isPending' | 'onChange'>

function Marks({ question, isPending, onChange }: MarksProps) {
  const isReadOnly = useRefusal('change') !== null
  const offered = marks[question.state]
  const act = (mark: MarkChange['mark']) => {
    if (!isReadOnly && !isPending && mark !== undefined) onChange({ mark })
  }
  useKeys(Object.fromEntries(offered.map(({ key, mark }) => [key, () => act(mark)])))
  return (
    <>
      {offered.map(({ label, mark, key }) => (
        <Guarded key={label} right="change" label={`${label} (${key.toUpperCase()})`}>
          <TextButton label={label} variant="default" size="compact-sm" onClick={() => act(mark)} />
        </Guarded>
      ))}
      {question.mark !== null && question.state !== 'dismissed' && (
        <Guarded right="change">
          <TextButton label="Clear mark" variant="subtle" size="compact-sm" onClick={() => act(null)} />
        </Guarded>
      )}
    </>
  )
}

function Actions({ question, isWritten }: QuestionProps & { isWritten: boolean }) {
  const { id, query, tags, callId, item, state, isGolden } = question
  return (
    <>
      {state === 'gap' && (
        <Guarded right="change">
          <PageButton
            {...to.newItem}
            search={{ question: query, gap: id }}
            variant={isWritten ? 'default' : 'filled'}
            size="compact-sm"
          >
            Write an item
          </PageButton>
        </Guarded>
      )}
      {item && (
        <Guarded right="change">
          <PageButton {...to.item(item.id)} search={{ tab: 'edit' }} variant="default" size="compact-sm">
            Edit the nearest item
          </PageButton>
        </Guarded>
      )}
      <KeepButton question={{ query, tags, callId, item }} disabled={isGolden}>
        {isGolden ? 'Is a golden question' : 'Save as golden'}
      </KeepButton>
      <PageButton
        {...to.playground}
        search={{ q: query, tags: tags.length === 1 ? [...(tags[0] ?? [])] : undefined }}
        variant="default"
        size="compact-sm"
      >
        Try it
      </PageButton>
    </>
  )
}

function Assignee({ question: { assignee }, onChange }: Pick<QuestionDetailProps, 'question' | 'onChange'>) {
  const refusal = useRefusal('change')
  const { data: people = [] } = useQuery(read(useProject().of.questions.people))
  const choices = new Map(people.map(({ id, name }) => [id, name]))
  if (assignee) choices.set(assignee.id, assignee.name)
  return (
    <Select
      aria-label="Assigned to"
      size="xs"
      w={200}
      placeholder="Assign to…"
      clearable
      disabled={refusal !== null}
      value={assignee?.id ?? null}
      data={[...choices].map(([value, label]) => ({ value, label }))}
      onChange={(id) => onChange({ assignee: id })}
    />
  )
}
