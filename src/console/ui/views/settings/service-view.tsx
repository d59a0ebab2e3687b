import { SimpleGrid, Switch } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Queue, ServiceAnswer } from '../../../operator/service-state.ts'
import { api, read } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { Mono } from '../../components/code.tsx'
import { Empty } from '../../components/empty.tsx'
import { asBytes, asCount } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Facts, Page, Section } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem, Warning } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable, Table, type TableProps } from '../../components/table.tsx'
import { useOwnsConsole } from '../../session.ts'

/** The service reads its state at most once a minute. */
const refetchInterval = 60_000
/** The service counts no further. */
const countedMax = 100_000

const queueNames: Record<Queue['name'], string> = {
  webhooks: 'Events for webhooks',
  analyses: 'Calls to analyze',
  recordings: 'Recordings to fetch',
  chunks: 'Chunks to embed',
  erasures: 'Deletions to erase',
}
const kinds = { file: 'A file on this machine', replica: 'A replica on this machine', server: 'On a server' }

/** The whole service, for the console's owner. */
export function ServiceView() {
  if (useOwnsConsole()) return <Service />
  return (
    <Page title="Service">
      <Empty icon={<IconLock size={24} />} title="Only the owner of the console can see this">
        It shows the whole service, with every project and every account.
      </Empty>
    </Page>
  )
}

function Service() {
  const { data, error, refetch } = useQuery({ ...read(api.operator), refetchInterval })
  const retry = () => void refetch()
  return (
    <Page
      title="Service"
      description={
        <>
          The whole service, with every project. Only you, as the owner of the console, can see this.
          {data && (
            <>
              {' '}
              Read <Instant at={data.readAt} />, at most once a minute.
            </>
          )}
        </>
      }
    >
      {error && !data && (
        <Problem title="The service's state could not be loaded" error={error} onRetry={retry} />
      )}
      {data?.problem && <Warning>{data.problem}</Warning>}
      <SimpleGrid type="container" cols={{ base: 1, '824px': 2 }} spacing="lg">
        <Panel title="This service">
          <Facts of={factsOf(data)} />
        </Panel>
        <Panel title="Waiting">
          <Table
            label="Waiting"
            rows={data?.queues}
            rowKey={({ name }) => name}
            expectedRows={Object.keys(queueNames).length}
            columns={({ figure, text, when }) => [
              text('What', ({ name }) => queueNames[name]),
              figure('Waiting', ({ waiting }) => atMost(waiting), '88px'),
              when('Since', ({ oldestAt }) => oldestAt, { none: '', from: 480 }),
            ]}
          />
        </Panel>
      </SimpleGrid>
      <Section
        title="Projects"
        description="Text is estimated from the newest records of each project: calls, and knowledge without its vectors."
      >
        <Projects rows={data?.projects} />
      </Section>
      <Section
        title="Keys"
        description="The keys in use, the last used first. Requests are those to this process since it started."
      >
        <Keys rows={data?.keys} />
      </Section>
      <SecondFactors />
    </Page>
  )
}

/** @param state undefined while it loads */
function factsOf(state: ServiceAnswer | undefined): Record<string, ReactNode> {
  const facts = state && {
    Version: <Mono>{state.version}</Mono>,
    Started: <Instant at={state.startedAt} as="moment" />,
    Database: describeDatabase(state.database),
    'Last backup': <Backup state={state} />,
    Embeddings: [
      state.embedder.destination,
      ...(state.embedder.dimensions === null ? [] : [`${state.embedder.dimensions} dimensions`]),
    ].join(' · '),
    Analysis: state.model ?? 'No model is configured',
  }
  const names = ['Version', 'Started', 'Database', 'Last backup', 'Embeddings', 'Analysis']
  return facts ?? Object.fromEntries(names.map((name) => [name, '…']))
}

function describeDatabase({ kind, bytes, freeBytes }: ServiceAnswer['database']): string {
  return [
    kinds[kind],
    ...(bytes === null ? [] : [asBytes(bytes)]),
    ...(freeBytes === null ? [] : [`${asBytes(freeBytes)} free on its disk`]),
  ].join(' · ')
}

function Backup({ state: { lastBackup, database } }: { state: ServiceAnswer }) {
  if (database.kind !== 'file') return 'The database’s own server makes them'
  if (!lastBackup) return 'None from this folder yet'
  return (
    <>
      <Instant at={lastBackup.at} /> · {asBytes(lastBackup.bytes)}
    </>
  )
}

/** `12`, `100,000+`. */
function atMost(count: number): string {
  return count < countedMax ? asCount(count) : `${asCount(countedMax)}+`
}

function Projects({ rows }: { rows: ServiceAnswer['projects'] | undefined }) {
  return (
    <Table
      label="Projects"
      rows={rows}
      rowKey={({ id }) => id}
      expectedRows={3}
      columns={({ figure, text }) => [
        text('Project', ({ name }) => name),
        figure('Calls', ({ calls }) => asCount(calls), '96px'),
        figure('Items', ({ items }) => atMost(items), '96px', 640),
        figure('Chunks', ({ chunks }) => atMost(chunks), '96px', 640),
        figure('Recordings', ({ recordings }) => atMost(recordings), '112px', 640),
        figure('Text, about', ({ textBytes }) => asBytes(textBytes), '112px'),
        figure('Sound', ({ recordingBytes }) => asBytes(recordingBytes), '96px', 640),
      ]}
    />
  )
}

function Keys({ rows }: Pick<TableProps<ServiceAnswer['keys'][number]>, 'rows'>) {
  return (
    <Table
      label="Keys"
      rows={rows}
      rowKey={({ id }) => id}
      expectedRows={3}
      columns={({ figure, text, when }) => [
        text('Key', ({ name }) => name),
        text('Kind', ({ kind }) => (kind === 'live' ? 'API' : 'Ingest'), { width: '96px', from: 640 }),
        text('Project', ({ project }) => project, { from: 480 }),
        figure('Requests', ({ requests }) => asCount(requests), '96px'),
        when('Last used', ({ lastUsedAt }) => lastUsedAt, { width: '128px' }),
      ]}
    />
  )
}

/** Who has a second factor, and whether everybody needs one. */
function SecondFactors() {
  const accounts = useQuery(read(api.people))
  const rule = useQuery(read(api.operator['two-factor']))
  const change = useAct({
    send: (isOn: boolean) => api.operator['two-factor'].put({ isOn }),
    changes: api.operator['two-factor'],
  })
  return (
    <Section title="Second factors">
      <Switch
        mb="sm"
        label="Require a second factor for everyone"
        description="Anyone who signs in with a password must have a second factor. Those without one set it up on their next request. People who sign in with the provider are not asked. If you lose yours, whoever runs Callbook ends this with “bun callbook person require-two-factor off”."
        checked={rule.data?.isOn ?? false}
        disabled={!rule.data || change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
      {rule.error && !rule.data && (
        <Problem
          error={rule.error}
          title="The rule could not be loaded"
          onRetry={() => void rule.refetch()}
        />
      )}
      {change.error && <Problem error={change.error} title="The rule was not changed" />}
      <QueryTable
        label="Second factors"
        of={accounts}
        what="The accounts"
        rows={accounts.data?.data}
        rowKey={({ id }) => id}
        expectedRows={3}
        columns={({ cell, text }) => [
          text('Name', ({ name }) => name),
          text('Email address', ({ email }) => email, { isDimmed: true, from: 480 }),
          cell(
            'Second factor',
            ({ hasTwoFactor }) => (
              <StatusBadge tone={hasTwoFactor ? 'success' : 'neutral'} label={hasTwoFactor ? 'On' : 'None'} />
            ),
            { width: '136px' },
          ),
        ]}
      />
    </Section>
  )
}
