import { Button, Select, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { AskedQuestion } from '../../../../knowledge/questions/question-groups.ts'
import type { MarkChange } from '../../../../knowledge/questions/question-marks.ts'
import { asPercent, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageButton, PageLink } from '../../components/links.tsx'
import { Problem } from '../../components/problem.tsx'
import { useRefusal } from '../../session.ts'
import { useKeys } from '../calls/use-keys.ts'
import { KeepButton } from './keep-button.tsx'
import { PassageList } from './passage-list.tsx'
import { questionPeopleQuery, questionQuery } from './question-queries.ts'
import classes from './questions.module.css'

const callsShown = 5

interface QuestionDetailProps {
  project: string
  question: AskedQuestion
  isPending: boolean
  onChange: (change: MarkChange) => void
}

/** What a question finds now, where it was asked, and what to do about it. */
export function QuestionDetail({ project, question: listed, isPending, onChange }: QuestionDetailProps) {
  const { data, error, refetch } = useQuery(questionQuery(project, listed.id))
  // The list may still have it as it was.
  const question = data ?? listed
  const calls = [...new Set(data?.askings.flatMap(({ callId }) => callId ?? []))]
  return (
    <div className={classes.detail}>
      <Said question={question} />
      <div className="cb-row">
        <Actions project={project} question={question} />
        <Marks question={question} isPending={isPending} onChange={onChange} />
        <Assignee project={project} question={question} onChange={onChange} />
      </div>
      {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height={120} />}
      {data && (
        <section aria-label="What search finds">
          <PassageList project={project} passages={data.passages} />
        </section>
      )}
      {calls.length > 0 && (
        <p className="cb-dimmed">
          Asked in{' '}
          {calls.slice(0, callsShown).map((call, at) => (
            <span key={call}>
              {at > 0 && ', '}
              <PageLink to="/p/$project/calls/$call" params={{ project, call }} inherit>
                <bdi>{call}</bdi>
              </PageLink>
            </span>
          ))}
          {calls.length > callsShown && ` and ${counted(calls.length - callsShown, 'more call')}`}
        </p>
      )}
    </div>
  )
}

/** Why it is where it is, in a sentence. */
function Said({
  question: { state, mark, markedBy, answeredSince, coverage, item },
}: Pick<QuestionDetailProps, 'question'>) {
  const by = markedBy ? ` by ${markedBy}` : ''
  if (mark === 'dismissed') return <p>Dismissed{by}.</p>
  if (mark === 'answered')
    return (
      <p>
        Marked as answered{by}
        {answeredSince && (
          <>
            {' '}
            <Instant at={answeredSince} />
          </>
        )}
        .
      </p>
    )
  if (mark === 'not_answered' && state === 'gap')
    return <p>Marked as not answered{by}. It closes once the item that is found first was changed.</p>
  if (state === 'gap')
    return (
      <p>
        {coverage === null || item === null
          ? 'Nothing that was found answers it.'
          : `The best passage covers ${asPercent(coverage)} of it.`}
      </p>
    )
  return (
    <p>
      {answeredSince && (
        <>
          Answered since <Instant at={answeredSince} />.{' '}
        </>
      )}
      {coverage === null
        ? 'Search found passages by meaning alone, so nothing says how much of it they cover.'
        : `The best passage covers ${asPercent(coverage)} of it.`}
    </p>
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

function Marks({ question, isPending, onChange }: Omit<QuestionDetailProps, 'project'>) {
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
            Take the mark back
          </Button>
        </Guarded>
      )}
    </>
  )
}

function Actions({ project, question }: Pick<QuestionDetailProps, 'project' | 'question'>) {
  const { query, callId, item, state, isGolden } = question
  return (
    <>
      {state === 'gap' && (
        <PageButton
          to="/p/$project/new-item"
          params={{ project }}
          search={{ question: query }}
          size="compact-sm"
        >
          Write an item
        </PageButton>
      )}
      {item && (
        <PageButton
          to="/p/$project/knowledge/$item"
          params={{ project, item: item.id }}
          search={{ tab: 'edit' }}
          variant="default"
          size="compact-sm"
        >
          Edit the nearest item
        </PageButton>
      )}
      <KeepButton question={{ query, callId, item }} disabled={isGolden}>
        {isGolden ? 'Is a golden question' : 'Keep as golden'}
      </KeepButton>
      <PageButton
        to="/p/$project/playground"
        params={{ project }}
        search={{ q: query }}
        variant="default"
        size="compact-sm"
      >
        Try it
      </PageButton>
    </>
  )
}

function Assignee({ project, question: { assignee }, onChange }: Omit<QuestionDetailProps, 'isPending'>) {
  const refusal = useRefusal('change')
  const { data: people = [] } = useQuery(questionPeopleQuery(project))
  const choices = new Map(people.map(({ id, name }) => [id, name]))
  if (assignee) choices.set(assignee.id, assignee.name)
  return (
    <Select
      aria-label="Assigned to"
      size="xs"
      className={classes.assignee}
      placeholder="Assign to…"
      clearable
      disabled={refusal !== null}
      value={assignee?.id ?? null}
      data={[...choices].map(([value, label]) => ({ value, label }))}
      onChange={(id) => onChange({ assignee: id })}
    />
  )
}
