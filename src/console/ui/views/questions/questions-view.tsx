import { Group, Stack, Tabs, Text } from '@mantine/core'
import { IconMessageQuestion } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import type { AskedQuestion, QuestionCounts } from '../../../../knowledge/questions/question-groups.ts'
import { api, unwrap } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { questionKeys } from '../../query-keys.ts'
import { outcomes, questionsSearch } from './questions-search.ts'

const route = getRouteApi('/p/$project/questions')

const words = {
  none: { label: 'Nothing found', means: 'Search found no passage for these questions.' },
  weak: {
    label: 'Weak matches',
    means:
      'No passage contains a word of these questions. Agents got the nearest vectors, even if they were far off.',
  },
  found: { label: 'Found', means: 'At least one passage contains a word of these questions.' },
} as const

/** What agents asked, by what was found, where the project keeps it. */
export function QuestionsView() {
  const { project } = route.useParams()
  const { outcome: chosen, item } = route.useSearch()
  const navigate = useNavigate()
  const counts = useQuery({
    queryKey: questionKeys.counts(project),
    queryFn: () => unwrap(api.projects({ project }).questions.get()),
  })
  const show = (next: { outcome?: string | null; item?: string }) =>
    void navigate({ to: '/p/$project/questions', params: { project }, search: questionsSearch(next) })
  if (counts.error && !counts.data)
    return <Problem error={counts.error} onRetry={() => void counts.refetch()} />
  const { data } = counts
  const isOff = data?.keepDays === null
  const outcome = chosen ?? (data?.none === 0 && data.weak > 0 ? 'weak' : 'none')
  return (
    <Stack gap="md">
      <PageHeader
        title="Questions"
        description={
          <>
            {data && !isOff && `What agents asked in the last ${data.keepDays} days. `}
            <PageLink to="/p/$project/knowledge" params={{ project }} underline="always">
              All knowledge
            </PageLink>
          </>
        }
      />
      {isOff ? (
        <Empty icon={<IconMessageQuestion size={24} />} title="Questions are not kept">
          An owner of the project can turn this on in{' '}
          <PageLink to="/p/$project/settings/privacy" params={{ project }} inherit underline="always">
            Settings → Privacy
          </PageLink>
          . Callbook then keeps what agents ask, and what search found, for 7 or 30 days, so that you can see
          what is missing.
        </Empty>
      ) : (
        <Tabs value={outcome} onChange={(tab) => show({ outcome: tab })} keepMounted={false}>
          <Tabs.List mb="md">
            {outcomes.map((name) => (
              <Tabs.Tab key={name} value={name}>
                {words[name].label} {data && <span className="cb-tab-count">{asCount(data[name])}</span>}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={outcome}>
            <Stack gap="sm">
              <Text size="sm" c="dimmed">
                {words[outcome].means}
              </Text>
              {outcome === 'found' && item === undefined ? (
                <FoundItems items={data?.items} onOpen={(id) => show({ outcome, item: id })} />
              ) : (
                <Asked key={`${outcome} ${item}`} project={project} outcome={outcome} item={item} />
              )}
            </Stack>
          </Tabs.Panel>
        </Tabs>
      )}
    </Stack>
  )
}

interface FoundItemsProps {
  items: QuestionCounts['items'] | undefined
  onOpen: (id: string) => void
}

function FoundItems({ items, onOpen }: FoundItemsProps) {
  return (
    <ListTable
      label="Items found"
      rows={items}
      rowKey={({ id }) => id}
      onOpen={({ id }) => onOpen(id)}
      columns={[
        { key: 'name', header: 'Item of the top passage', render: ({ name }) => name },
        {
          key: 'count',
          header: 'Questions',
          width: '110px',
          align: 'right',
          render: ({ count }) => <span className="cb-figure">{asCount(count)}</span>,
        },
      ]}
      empty={<Empty title="No question has found an item yet" />}
    />
  )
}

interface AskedProps {
  project: string
  outcome: (typeof outcomes)[number]
  item: string | undefined
}

function Asked({ project, outcome, item }: AskedProps) {
  const asked = useQuery({
    queryKey: questionKeys.asked(project, outcome, item),
    queryFn: () =>
      unwrap(
        api
          .projects({ project })
          .questions.asked.get({ query: { outcome, ...(item === undefined ? {} : { itemId: item }) } }),
      ),
    placeholderData: keepPreviousData,
  })
  if (asked.error && !asked.data) return <Problem error={asked.error} onRetry={() => void asked.refetch()} />
  return (
    <ListTable
      label="Questions"
      rows={asked.data}
      rowKey={({ query }) => query}
      columns={columnsOf(project, outcome)}
      empty={<Empty title="No questions" />}
    />
  )
}

function columnsOf(project: string, outcome: AskedProps['outcome']): Column<AskedQuestion>[] {
  return [
    {
      key: 'query',
      header: 'Question',
      render: ({ query, item, callId }) => (
        <>
          <Text size="sm" lineClamp={3} style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>
            {query}
          </Text>
          <Group gap="md" mt={2}>
            {outcome !== 'found' && (
              <PageLink to="/p/$project/new-item" params={{ project }} search={{ question: query }} size="xs">
                Write an item
              </PageLink>
            )}
            <PageLink to="/p/$project/playground" params={{ project }} search={{ q: query }} size="xs">
              Try it
            </PageLink>
            {callId !== null && (
              <PageLink to="/p/$project/calls/$call" params={{ project, call: callId }} size="xs">
                Last call
              </PageLink>
            )}
            {item && (
              <PageLink to="/p/$project/knowledge/$item" params={{ project, item: item.id }} size="xs">
                {outcome === 'weak' ? `Nearest: ${item.name}` : item.name}
              </PageLink>
            )}
          </Group>
        </>
      ),
    },
    {
      key: 'count',
      header: 'Asked',
      width: '80px',
      align: 'right',
      render: ({ count }) => <span className="cb-figure">{asCount(count)}</span>,
    },
    {
      key: 'last',
      header: 'Last',
      width: '120px',
      from: 480,
      render: ({ lastAt }) => <Instant at={lastAt} />,
    },
  ]
}
