import { Group, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { QuestionOfCall } from '../../../../knowledge/questions/questions-of-call.ts'
import { asPercent } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { KeepButton, PassageList, useMark } from '../questions/questions.tsx'

interface Question extends QuestionOfCall {
  /** Whether what was found did not answer it. */
  isGap: boolean
}

/** Each question of a call with the passages that the agent got, and a way to say that they are wrong. */
export default function RetrievalList({ call, questions }: { call: string; questions: readonly Question[] }) {
  return (
    <Stack component="ol" gap={16} mt={8} mb={16} p={0} aria-label="Questions to knowledge">
      {questions.map((question) => (
        <QuestionItem key={`${question.at} ${question.id}`} call={call} question={question} />
      ))}
    </Stack>
  )
}

function QuestionItem({ call, question }: { call: string; question: Question }) {
  const { id: project } = useProject()
  const navigate = useNavigate()
  const mark = useMark()
  const { id, query, tags, at, coverage, passages, reads, isGolden, isGap } = question
  const correct = (item: string) => {
    mark.mutate({ id, mark: 'not_answered' })
    void navigate({ ...to.item(item), search: { tab: 'edit' } })
  }
  const first = passages.find(({ item }) => item !== null)?.item ?? null
  return (
    <Stack component="li" gap={8} pl={12} style={{ borderLeft: '2px solid var(--cb-border)' }}>
      <Text size="sm" fw={500} dir="auto">
        {query}
      </Text>
      <Group component="p" gap="4px 12px" fz={12} className="cb-dimmed">
        {isGap ? <StatusBadge tone="warning" label="Gap" /> : <StatusBadge tone="neutral" label="Answered" />}
        {coverage !== null && <span>{asPercent(coverage)} covered</span>}
        <Instant at={at} as="moment" />
      </Group>
      <PassageList passages={passages} askedAt={at} />
      {reads.length > 0 && (
        <p>
          Read whole:{' '}
          {reads.map((item, place) => (
            <span key={item.id}>
              {place > 0 && ', '}
              <PageLink {...to.item(item.id)} inherit>
                <bdi>{item.name}</bdi>
              </PageLink>
            </span>
          ))}
        </p>
      )}
      <Group gap={8}>
        <KeepButton
          question={{ query, tags, callId: call, item: first }}
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
      </Group>
    </Stack>
  )
}
