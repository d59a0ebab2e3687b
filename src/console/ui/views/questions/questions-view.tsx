import { Button, Stack, Tabs } from '@mantine/core'
import { IconMessageQuestion, IconMoodSmile } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode } from 'react'
import type { QuestionCounts, QuestionState } from '../../../../knowledge/questions/question-groups.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Empty } from '../../components/empty.tsx'
import { asCount, asPercent } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject, useRefusal } from '../../session.ts'
import { AskedList } from './asked-list.tsx'
import { GoldenTab } from './golden-tab.tsx'
import { countsQuery } from './question-queries.ts'
import { type QuestionsSearch, questionsSearch, questionTabs } from './questions-search.ts'

const route = getRouteApi('/p/$project/questions')

const loadLimit = () => import('./gap-limit.tsx')
const GapLimit = lazy(loadLimit)

const words = {
  gap: {
    label: 'Gaps',
    means: 'What agents asked and your knowledge does not answer. A gap closes when an item answers it.',
    empty: 'Everything that was asked is answered',
  },
  answered: {
    label: 'Answered',
    means: 'What agents asked and found. If a passage is not the answer, say so: the question becomes a gap.',
    empty: 'No question is answered yet',
  },
  dismissed: {
    label: 'Dismissed',
    means: 'Questions that need no answer.',
    empty: 'No question is dismissed',
  },
  golden: {
    label: 'Golden',
    means: 'Questions with the item that answers them. They are asked again after each change of knowledge.',
  },
} as const

/** What agents asked: what the knowledge does not answer, what it does, and what is asked after each change. */
export function QuestionsView() {
  const { project } = route.useParams()
  const { tab = 'gap', question, assignee } = route.useSearch()
  const navigate = useNavigate()
  const counts = useQuery(countsQuery(project))
  const show = (next: QuestionsSearch, isStep = true) =>
    void navigate({
      to: '/p/$project/questions',
      params: { project },
      search: questionsSearch({ ...next }),
      replace: !isStep,
      resetScroll: false,
    })
  if (counts.error && !counts.data)
    return <Problem error={counts.error} onRetry={() => void counts.refetch()} />
  const { data } = counts
  const lists = (state: QuestionState) => (
    <AskedList
      key={state}
      project={project}
      state={state}
      id={question}
      assignee={assignee}
      total={data?.[state]}
      onShow={(next) => show({ tab: state, ...next }, false)}
      empty={<Empty icon={<IconMoodSmile size={24} />} title={words[state].empty} />}
    />
  )
  return (
    <Stack gap="md">
      <PageHeader
        title="Questions"
        description={
          <>
            {data?.keepDays && `What agents asked in the last ${data.keepDays} days. `}
            <PageLink to="/p/$project/knowledge" params={{ project }} underline="always">
              All knowledge
            </PageLink>
          </>
        }
        action={data?.keepDays && tab !== 'golden' && <Limit limit={data.gapCoverage} />}
      />
      <Tabs
        value={tab}
        onChange={(next) => show({ tab: questionsSearch({ tab: next }).tab })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {questionTabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {words[name].label} <TabCount counts={data} tab={name} />
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab}>
          <Stack gap="sm">
            <p className="cb-dimmed">{words[tab].means}</p>
            {tab === 'golden' ? (
              <GoldenTab project={project} />
            ) : data?.keepDays === null ? (
              <NotKept />
            ) : (
              lists(tab)
            )}
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}

function TabCount({
  counts,
  tab,
}: {
  counts: QuestionCounts | undefined
  tab: keyof typeof words
}): ReactNode {
  if (!counts || tab === 'golden' || counts.keepDays === null) return null
  return <span className="cb-tab-count">{asCount(counts[tab])}</span>
}

/** How much of a question has to be covered, which owners can change. */
function Limit({ limit }: { limit: number }) {
  const isOwner = useRefusal('manage') === null
  const sentence = `A gap is below ${asPercent(limit)}`
  if (!isOwner) return <span className="cb-dimmed">{sentence}</span>
  return (
    <ButtonWithPopup kind="dialog" load={loadLimit} button={<Button variant="default">{sentence}</Button>}>
      {(popup) => <GapLimit {...popup} limit={limit} />}
    </ButtonWithPopup>
  )
}

/** How to switch it on. */
function NotKept() {
  const { id: project } = useProject()
  const isOwner = useRefusal('manage') === null
  return (
    <Empty
      icon={<IconMessageQuestion size={24} />}
      title="Questions are not kept"
      action={<CodeBlock code={`bun callbook project set ${project} --keep-questions 30`} />}
    >
      <p>
        {isOwner ? 'Turn this on in ' : 'An owner of the project can turn this on in '}
        <PageLink to="/p/$project/settings/privacy" params={{ project }} inherit underline="always">
          Settings → Privacy
        </PageLink>
        , or on the command line. Callbook then keeps what agents ask, and what search found, for 7 or 30
        days, so that you can see what is missing.
      </p>
    </Empty>
  )
}
