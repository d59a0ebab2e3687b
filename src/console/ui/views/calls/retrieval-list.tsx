import { useNavigate } from '@tanstack/react-router'
import type { QuestionOfCall, QuestionsOfCall } from '../../../../knowledge/questions/questions-of-call.ts'
import { asPercent } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'
import { KeepButton } from '../questions/keep-button.tsx'
import { PassageList } from '../questions/passage-list.tsx'
import { useMark } from '../questions/question-queries.ts'
import { leftGap } from './left-gap.ts'
import classes from './retrieval.module.css'

/** Each question of a call with the passages that the agent got, and a way to say that they are wrong. */
export default function RetrievalList({ call, data, gapCoverage }: QuestionsOfCall & { call: string }) {
  return (
    <ol className={classes.questions} aria-label="Questions to knowledge">
      {data.map((question) => (
        <Question
          key={`${question.at} ${question.id}`}
          call={call}
          question={question}
          gapCoverage={gapCoverage}
        />
      ))}
    </ol>
  )
}

interface QuestionProps {
  call: string
  question: QuestionOfCall
  gapCoverage: number
}

function Question({ call, question, gapCoverage }: QuestionProps) {
  const { id: project } = useProject()
  const navigate = useNavigate()
  const mark = useMark()
  const { id, query, at, coverage, passages, reads, isGolden } = question
  const isGap = leftGap(question, gapCoverage)
  const correct = (item: string) => {
    mark.mutate({ id, mark: 'not_answered' })
    void navigate({ to: '/p/$project/knowledge/$item', params: { project, item }, search: { tab: 'edit' } })
  }
  const first = passages.find(({ item }) => item !== null)?.item ?? null
  return (
    <li>
      <p dir="auto" className={classes.query}>
        {query}
      </p>
      <p className={classes.facts}>
        {isGap ? (
          <StatusBadge tone="warning">Gap</StatusBadge>
        ) : (
          <StatusBadge tone="neutral">Answered</StatusBadge>
        )}
        {coverage !== null && <span>{asPercent(coverage)} covered</span>}
        <Instant at={at} as="moment" />
      </p>
      <PassageList passages={passages} askedAt={at} />
      {reads.length > 0 && (
        <p>
          Read whole:{' '}
          {reads.map((item, place) => (
            <span key={item.id}>
              {place > 0 && ', '}
              <PageLink to="/p/$project/knowledge/$item" params={{ project, item: item.id }} inherit>
                <bdi>{item.name}</bdi>
              </PageLink>
            </span>
          ))}
        </p>
      )}
      <div className="cb-row">
        <KeepButton
          question={{ query, callId: call, item: first }}
          title="Which item should have answered?"
          label="Keep and open the item"
          onKept={correct}
        >
          Wrong answer
        </KeepButton>
        {isGolden && <span className="cb-dimmed">Is a golden question</span>}
        <PageLink to="/p/$project/playground" params={{ project }} search={{ q: query }} size="sm">
          Try it
        </PageLink>
      </div>
    </li>
  )
}
