import { Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { IconPencil, IconTarget, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { GoldenHistory } from '../../../../knowledge/questions/golden-runs.ts'
import { tagsOf } from '../../../../text/tags.ts'
import { read } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { Mono } from '../../components/code.tsx'
import { useConfirm } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { asPercent, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Facts } from '../../components/page.tsx'
import { Problem } from '../../components/problem.tsx'
import { QueryTable, Table } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useProject, useRefusal } from '../../session.ts'
import { TagChips } from '../knowledge/tags-field.tsx'
import { refetchInterval, useKeep } from './questions.tsx'

type Golden = GoldenHistory['questions'][number]
type Runs = GoldenHistory['runs']

const ranksShown = 10
const places = ['First', '2nd', '3rd', '4th', '5th']

/** The golden questions, what they find now, and what they found before. */
export function GoldenTab() {
  const { of } = useProject()
  const golden = useQuery({ ...read(of.questions.golden), refetchInterval })
  const run = useAct({ send: () => of.questions.golden.run.post({}), changes: of.questions.golden })
  const keep = useKeep()
  const remove = useRemoval()
  const isReadOnly = useRefusal('change') !== null
  const actsOf = (question: Golden) => {
    const options = { title: 'Edit golden question', label: 'Save' }
    const edit = () => keep({ question: { ...question, replaces: question.id }, ...options })
    return [
      { icon: IconPencil, label: 'Edit question', hint: 'Edit question', act: edit },
      { icon: IconTrash, label: 'Delete question', hint: 'Delete question', act: () => remove(question) },
    ]
  }
  const { data } = golden
  if (data?.questions.length === 0)
    return (
      <Empty icon={<IconTarget size={24} />} title="No golden questions">
        Save one from a gap, a call or the playground, and see here what each change of knowledge does to it.
      </Empty>
    )
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="flex-end" gap="md">
        <Latest runs={data?.runs} />
        <Guarded right="change">
          <Button variant="default" loading={run.isPending} onClick={() => run.mutate()}>
            Ask all now
          </Button>
        </Guarded>
      </Group>
      {run.error && <Problem error={run.error} />}
      <QueryTable
        label="Golden questions"
        of={golden}
        what="The golden questions"
        rows={data?.questions}
        rowKey={({ id }) => id}
        columns={({ actions, cell }) => [
          cell('Question', (question) => <Query question={question} />),
          cell('Item', ({ item }) => <Item item={item} />, { width: '22%', from: 640 }),
          cell('Rank now', ({ ranks }) => <Rank rank={ranks.at(-1)} />, { width: '92px' }),
          cell('Before', ({ ranks }) => <Ranks ranks={ranks} />, { width: '150px', from: 800 }),
          actions('Actions', (question) => (isReadOnly || question.file ? [] : actsOf(question)), '84px'),
        ]}
      />
      <History runs={data?.runs ?? []} />
    </Stack>
  )
}

function useRemoval() {
  const { of } = useProject()
  const ask = useConfirm()
  return ({ id, query }: Golden) =>
    ask({
      title: 'Delete this golden question?',
      verb: 'Delete question',
      text: <p dir="auto">“{query}” is erased. This cannot be undone.</p>,
      send: () => of.questions.golden({ id }).delete(),
      changes: of.questions,
    })
}

function Latest({ runs }: { runs: Runs | undefined }) {
  if (!runs) return <Skeleton width={320} height={44} />
  const last = runs.at(-1)
  const before = runs.at(-2)
  if (!last) return <p className="cb-dimmed">Not asked yet. They are asked after each change of knowledge.</p>
  return (
    <Facts
      isRow
      of={{
        'Found first': <Share value={last.hit1} before={before?.hit1} />,
        'Among the first five': <Share value={last.hit5} before={before?.hit5} />,
        'Last asked': <Instant at={last.lastAt} />,
      }}
    />
  )
}

function Share({ value, before }: { value: number; before: number | undefined }) {
  return (
    <>
      <Text span fz={20} fw={700} className="cb-figure">
        {asPercent(value)}
      </Text>
      {before !== undefined && before !== value && (
        <span className="cb-dimmed cb-figure"> before: {asPercent(before)}</span>
      )}
    </>
  )
}

function Query({ question: { query, tags, file, callId, createdBy } }: { question: Golden }) {
  return (
    <>
      <Text size="sm" lineClamp={2} dir="auto" className="cb-wrap">
        {query}
      </Text>
      <TagChips tags={tagsOf(tags)} />
      <Text size="xs" c="dimmed" className="cb-wrap">
        {file !== null && (
          <>
            From <Mono>{file}</Mono>
          </>
        )}
        {createdBy && <bdi>{createdBy}</bdi>}
        {callId !== null && (
          <>
            {createdBy && ' · '}Kept until{' '}
            <PageLink {...to.call(callId)} inherit>
              its call
            </PageLink>{' '}
            is erased
          </>
        )}
      </Text>
    </>
  )
}

function Item({ item }: Pick<Golden, 'item'>) {
  if (!item) return <span className="cb-dimmed">Deleted</span>
  return (
    <PageLink {...to.item(item.id)}>
      <bdi>{item.name}</bdi>
    </PageLink>
  )
}

function Rank({ rank }: { rank: number | null | undefined }) {
  if (rank === null || rank === undefined) return <span className="cb-dimmed">Not asked</span>
  if (rank === 0)
    return (
      <Text span fw={500} c="var(--cb-danger-text)">
        Not found
      </Text>
    )
  return <span className="cb-figure">{places[rank - 1]}</span>
}

/** The ranks before the last one, the oldest first: `1 1 3 –`. */
function Ranks({ ranks }: Pick<Golden, 'ranks'>) {
  const before = ranks.slice(0, -1).slice(-ranksShown)
  const words = before.map((rank) => (rank === null ? '·' : rank === 0 ? '–' : String(rank)))
  return (
    <span className="cb-dimmed cb-figure" title="Ranks in earlier results; – is not found, · not asked">
      {words.join(' ')}
    </span>
  )
}

function History({ runs }: { runs: Runs }) {
  if (runs.length < 2) return null
  return (
    <details>
      <Text component="summary" w="fit-content" c="dimmed" style={{ cursor: 'pointer' }}>
        {counted(runs.length, 'result')} so far
      </Text>
      <Table
        label="Results"
        rows={runs.toReversed()}
        rowKey={({ at }) => at}
        columns={({ figure, when }) => [
          when('From', ({ at }) => at, { as: 'moment', width: 'auto' }),
          when('Until', ({ lastAt }) => lastAt, { as: 'moment', width: 'auto', from: 480 }),
          figure('Questions', ({ questions }) => questions, '92px'),
          figure('First', ({ hit1 }) => asPercent(hit1), '84px'),
          figure('First five', ({ hit5 }) => asPercent(hit5), '92px'),
        ]}
      />
    </details>
  )
}
