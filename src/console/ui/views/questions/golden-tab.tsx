import { Button, Skeleton, Text } from '@mantine/core'
import { IconPencil, IconTarget, IconTrash } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { GoldenHistory } from '../../../../knowledge/questions/golden-runs.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Empty } from '../../components/empty.tsx'
import { asPercent, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Problem } from '../../components/problem.tsx'
import { questionKeys } from '../../query-keys.ts'
import { KeepButton } from './keep-button.tsx'
import { goldenQuery } from './question-queries.ts'
import classes from './questions.module.css'

type Golden = GoldenHistory['questions'][number]

const ranksShown = 10
const places = ['First', '2nd', '3rd', '4th', '5th']

/** The golden questions, what they find now, and what they found before. */
export function GoldenTab({ project }: { project: string }) {
  const queryClient = useQueryClient()
  const golden = useQuery(goldenQuery(project))
  const [deleting, setDeleting] = useState<Golden | null>(null)
  const run = useMutation({
    mutationFn: () => unwrap(api.projects({ project }).questions.golden.run.post({})),
    onSuccess: (history) => queryClient.setQueryData(goldenQuery(project).queryKey, history),
  })
  const remove = async () => {
    if (!deleting) return
    await unwrap(api.projects({ project }).questions.golden({ id: deleting.id }).delete())
    await queryClient.invalidateQueries({ queryKey: questionKeys.all(project) })
  }
  if (golden.error && !golden.data)
    return <Problem error={golden.error} onRetry={() => void golden.refetch()} />
  const { data } = golden
  if (data?.questions.length === 0)
    return (
      <Empty icon={<IconTarget size={24} />} title="No golden questions">
        Keep questions with the item that answers them, from a gap, a call or the playground. After each
        change of knowledge they are asked again, and you see here what the change did.
      </Empty>
    )
  return (
    <div className={classes.list}>
      <div className={classes.figures}>
        <Latest runs={data?.runs} />
        <Guarded right="change">
          <Button variant="default" loading={run.isPending} onClick={() => run.mutate()}>
            Ask all now
          </Button>
        </Guarded>
      </div>
      {run.error && <Problem error={run.error} />}
      <ListTable
        label="Golden questions"
        rows={data?.questions}
        rowKey={({ id }) => id}
        columns={columnsOf(project, setDeleting)}
      />
      <History runs={data?.runs ?? []} />
      <ConfirmDialog
        opened={deleting !== null}
        onClose={() => setDeleting(null)}
        title="Delete this golden question?"
        confirmLabel="Delete question"
        onConfirm={remove}
      >
        <p dir="auto">“{deleting?.query}” is erased. This cannot be undone.</p>
      </ConfirmDialog>
    </div>
  )
}

function Latest({ runs }: { runs: GoldenHistory['runs'] | undefined }) {
  if (!runs) return <Skeleton width={320} height={44} />
  const last = runs.at(-1)
  const before = runs.at(-2)
  if (!last) return <p className="cb-dimmed">Not asked yet. They are asked after each change of knowledge.</p>
  return (
    <dl className={classes.shares}>
      <Share label="Found first" value={last.hit1} before={before?.hit1} />
      <Share label="Among the first five" value={last.hit5} before={before?.hit5} />
      <div>
        <dt>Last asked</dt>
        <dd>
          <Instant at={last.lastAt} />
        </dd>
      </div>
    </dl>
  )
}

function Share({ label, value, before }: { label: string; value: number; before: number | undefined }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <strong className="cb-figure">{asPercent(value)}</strong>
        {before !== undefined && before !== value && (
          <span className="cb-dimmed cb-figure"> before: {asPercent(before)}</span>
        )}
      </dd>
    </div>
  )
}

function columnsOf(project: string, onDelete: (question: Golden) => void): Column<Golden>[] {
  return [
    {
      key: 'query',
      header: 'Question',
      render: ({ query, callId, createdBy }) => (
        <>
          <Text size="sm" lineClamp={2} dir="auto" className={classes.query}>
            {query}
          </Text>
          <Text size="xs" c="dimmed" className={classes.query}>
            {createdBy && <bdi>{createdBy}</bdi>}
            {callId !== null && (
              <>
                {createdBy && ' · '}Kept until{' '}
                <PageLink to="/p/$project/calls/$call" params={{ project, call: callId }} inherit>
                  its call
                </PageLink>{' '}
                is erased
              </>
            )}
          </Text>
        </>
      ),
    },
    {
      key: 'item',
      header: 'Item',
      width: '22%',
      from: 640,
      render: ({ item }) =>
        item ? (
          <PageLink to="/p/$project/knowledge/$item" params={{ project, item: item.id }}>
            <bdi>{item.name}</bdi>
          </PageLink>
        ) : (
          <span className="cb-dimmed">Deleted</span>
        ),
    },
    { key: 'rank', header: 'Rank now', width: '92px', render: ({ ranks }) => <Rank rank={ranks.at(-1)} /> },
    {
      key: 'ranks',
      header: 'Before',
      width: '150px',
      from: 800,
      render: ({ ranks }) => <Ranks ranks={ranks} />,
    },
    {
      key: 'actions',
      header: <span className="cb-hidden">Actions</span>,
      width: '92px',
      align: 'right',
      render: (question) => (
        <span className={classes.rowActions}>
          <KeepButton
            question={{ ...question, replaces: question.id }}
            title="Edit golden question"
            label="Save"
            variant="subtle"
            color="gray"
            aria-label="Edit question"
          >
            <IconPencil size={16} aria-hidden />
          </KeepButton>
          <Guarded right="change">
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              aria-label="Delete question"
              onClick={() => onDelete(question)}
            >
              <IconTrash size={16} aria-hidden />
            </Button>
          </Guarded>
        </span>
      ),
    },
  ]
}

function Rank({ rank }: { rank: number | null | undefined }) {
  if (rank === null || rank === undefined) return <span className="cb-dimmed">Not asked</span>
  if (rank === 0) return <strong className={classes.missed}>Not found</strong>
  return <span className="cb-figure">{places[rank - 1]}</span>
}

/** The ranks before the last one, the oldest first: `1 1 3 –`. */
function Ranks({ ranks }: { ranks: Golden['ranks'] }) {
  const before = ranks.slice(0, -1).slice(-ranksShown)
  const words = before.map((rank) => (rank === null ? '·' : rank === 0 ? '–' : String(rank)))
  return (
    <span className="cb-dimmed cb-figure" title="Ranks in earlier results; – is not found, · not asked">
      {words.join(' ')}
    </span>
  )
}

function History({ runs }: { runs: GoldenHistory['runs'] }) {
  if (runs.length < 2) return null
  return (
    <details className={classes.history}>
      <summary>{counted(runs.length, 'result')} so far</summary>
      <ListTable
        label="Results"
        rows={runs.toReversed()}
        rowKey={({ at }) => at}
        columns={[
          { key: 'at', header: 'From', render: ({ at }) => <Instant at={at} as="moment" /> },
          {
            key: 'last',
            header: 'Until',
            from: 480,
            render: ({ lastAt }) => <Instant at={lastAt} as="moment" />,
          },
          {
            key: 'count',
            header: 'Questions',
            width: '92px',
            align: 'right',
            render: (one) => one.questions,
          },
          {
            key: 'hit1',
            header: 'First',
            width: '84px',
            align: 'right',
            render: (one) => asPercent(one.hit1),
          },
          {
            key: 'hit5',
            header: 'First five',
            width: '92px',
            align: 'right',
            render: (one) => asPercent(one.hit5),
          },
        ]}
      />
    </details>
  )
}
