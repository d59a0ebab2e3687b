import { Button, Group, NumberInput, Stack, Tabs } from '@mantine/core'
import { IconMessageQuestion, IconMoodSmile } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { read } from '../../api.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { CodeBlock, Mono } from '../../components/code.tsx'
import { useShow } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { asCount, asPercent } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { Labelled } from '../../components/page.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useProject, useRefusal } from '../../session.ts'
import { AskedList } from './asked-list.tsx'
import { GoldenTab } from './golden-tab.tsx'
import { refetchInterval } from './questions.tsx'
import { type QuestionsSearch, questionsSearch, questionTabs } from './questions-search.ts'

const route = getRouteApi('/p/$project/questions')

/** What a project begins with; src/guide/knowledge.md has the figures. */
const usualPercent = 50

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
  const { of } = useProject()
  const { tab = 'gap', ...search } = route.useSearch()
  const navigate = useNavigate()
  const counts = useQuery({ ...read(of.questions), refetchInterval })
  const show = (next: QuestionsSearch, isStep = true) =>
    void navigate({
      ...to.questions,
      search: questionsSearch({ ...next }),
      replace: !isStep,
      resetScroll: false,
    })
  if (counts.error && !counts.data)
    return <Problem error={counts.error} onRetry={() => void counts.refetch()} />
  const { data } = counts
  return (
    <Stack gap="md">
      <PageHeader
        title="Questions"
        description={
          <>
            {data?.keepDays && `What agents asked in the last ${data.keepDays} days. `}
            <PageLink {...to.knowledge} underline="always">
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
              {words[name].label}{' '}
              {name !== 'golden' && data?.keepDays && (
                <span className="cb-tab-count">{asCount(data[name])}</span>
              )}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab}>
          <Stack gap="sm">
            <Group justify="space-between" gap="xs">
              <p className="cb-dimmed">{words[tab].means}</p>
              {tab === 'gap' && data?.keepDays && <HandOver />}
            </Group>
            {tab === 'golden' ? (
              <GoldenTab />
            ) : data?.keepDays === null ? (
              <NotKept />
            ) : (
              <AskedList
                key={tab}
                state={tab}
                search={search}
                total={data?.[tab]}
                onShow={(next) => show({ tab, ...next }, false)}
                empty={<Empty icon={<IconMoodSmile size={24} />} title={words[tab].empty} />}
              />
            )}
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}

/** What a coding agent needs to close gaps from what a repository says. */
function HandOver() {
  const { id: project } = useProject()
  const show = useShow()
  const { origin } = location
  const lines = {
    'MCP server': `claude mcp add --transport http callbook ${origin}/mcp --header "Authorization: Bearer $CALLBOOK_KEY"`,
    'Its rules (skill)': `${origin}/docs/guide/knowledge#close-gaps-with-a-coding-agent`,
    'Or on the command line': `bun callbook knowledge gaps --project ${project} --json`,
  }
  const content = (
    <Stack gap="sm">
      <p>
        The agent lists gaps, looks for their answers in your repository, and opens a pull request. After the
        next <Mono>knowledge sync</Mono> they close. It needs a key with read access.
      </p>
      {Object.entries(lines).map(([label, code]) => (
        <Labelled key={label} label={label}>
          <CodeBlock code={code} />
        </Labelled>
      ))}
    </Stack>
  )
  return (
    <Button
      variant="default"
      size="compact-sm"
      onClick={() => show({ title: 'Hand to a coding agent', size: 600, content: () => content })}
    >
      Hand to a coding agent
    </Button>
  )
}

/** How much of a question has to be covered, which owners can change. */
function Limit({ limit }: { limit: number }) {
  const show = useShow()
  const isOwner = useRefusal('manage') === null
  const sentence = `Gap threshold: ${asPercent(limit)}`
  if (!isOwner) return <span className="cb-dimmed">{sentence}</span>
  return (
    <Button
      variant="default"
      onClick={() =>
        show({ title: 'Gaps', size: 360, content: (close) => <LimitForm limit={limit} onDone={close} /> })
      }
    >
      {sentence}
    </Button>
  )
}

function LimitForm({ limit, onDone }: { limit: number; onDone: () => void }) {
  const { of } = useProject()
  const form = useApiForm({
    first: { percent: Math.round(limit * 100) as number | string },
    isReady: ({ percent }) => percent !== '',
    body: ({ percent }) => ({ gapCoverage: Number(percent) / 100 }),
    send: (body) => of.settings.put(body),
    changes: [of.settings, of.questions],
    says: ({ gapCoverage }) => `A gap is now below ${asPercent(gapCoverage)}.`,
    done: onDone,
  })
  return (
    <ApiForm form={form} label="Save" onCancel={onDone}>
      <NumberInput
        label="A question is a gap below"
        description={`How much of it the best passage covers. Usually ${usualPercent}%; a lower limit shows fewer gaps.`}
        suffix=" %"
        min={0}
        max={100}
        clampBehavior="strict"
        allowDecimal={false}
        data-autofocus
        {...form.field('percent', 'gapCoverage')}
      />
    </ApiForm>
  )
}

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
        <PageLink {...to.privacy} hash="questions" inherit underline="always">
          Settings → Privacy
        </PageLink>
        , or on the command line. Callbook then keeps what agents ask, and what search found, for 7 or 30
        days, so that you can see what is missing.
      </p>
    </Empty>
  )
}
