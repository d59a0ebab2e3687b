import { Button, Group, Select, Skeleton, Stack } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AskedQuestion } from '../../../../knowledge/questions/question-groups.ts'
import type { MarkChange } from '../../../../knowledge/questions/question-marks.ts'
import { pathOf, read, unwrap } from '../../api.ts'
import { asPercent, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageButton, PageLink } from '../../components/links.tsx'
import { Loaded } from '../../components/page.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useKeys } from '../../components/typing.ts'
import { useFocus } from '../../components/use-focus.ts'
import { useProject, useRefusal } from '../../session.ts'
import { useItem } from '../knowledge/queries.ts'
import { KeepButton } from './keep-button.tsx'
import { PassageList } from './passage-list.tsx'
import { refetchInterval } from './question-queries.ts'

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
export function QuestionDetail({ question: row, written, ...acts }: QuestionDetailProps) {
  const { of } = useProject()
  const detail = useQuery({ ...read(of.questions.asked({ id: row.id })), refetchInterval })
  // The list may still have it as it was.
  const question = detail.data ?? row
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
        <Button ref={next} size="compact-sm" onClick={onNext}>
          Next question
        </Button>
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
    { label: 'Answered', mark: 'answered', key: 'a' },
    { label: 'Dismiss', mark: 'dismissed', key: 'd' },
  ],
  answered: [
    { label: 'Not answered', mark: 'not_answered', key: 'a' },
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
          <Button variant="default" size="compact-sm" onClick={() => act(mark)}>
            {label}
          </Button>
        </Guarded>
      ))}
      {question.mark !== null && question.state !== 'dismissed' && (
        <Guarded right="change">
          <Button variant="subtle" size="compact-sm" onClick={() => act(null)}>
            Clear mark
          </Button>
        </Guarded>
      )}
    </>
  )
}

function Actions({ question, isWritten }: QuestionProps & { isWritten: boolean }) {
  const { id: project } = useProject()
  const { id, query, tags, callId, item, state, isGolden } = question
  return (
    <>
      {state === 'gap' && (
        <Guarded right="change">
          <PageButton
            to="/p/$project/new-item"
            params={{ project }}
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
        {isGolden ? 'Is a golden question' : 'Keep as golden'}
      </KeepButton>
      <PageButton
        to="/p/$project/playground"
        params={{ project }}
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
