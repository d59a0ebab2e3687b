import { SimpleGrid } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ServiceAnswer } from '../../../operator/service-state.ts'
import { Empty } from '../../components/empty.tsx'
import { asBytes } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { Warning } from '../../components/warning.tsx'
import { useOwnsConsole } from '../../session.ts'
import { SecondFactors } from './second-factors.tsx'
import { serviceQuery } from './service-queries.ts'
import { KeyTable, ProjectTable, QueueTable } from './service-tables.tsx'
import classes from './settings.module.css'

/** The whole service, for the console's owner. */
export function ServiceView() {
  if (useOwnsConsole()) return <Service />
  return (
    <>
      <PageHeader title="Service" />
      <Empty icon={<IconLock size={24} />} title="Only the owner of the console can see this">
        It shows the whole service, with every project and every account.
      </Empty>
    </>
  )
}

function Service() {
  const { data, error, refetch } = useQuery(serviceQuery)
  return (
    <>
      <PageHeader
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
      />
      {error && !data && (
        <Problem
          title="The service's state could not be loaded"
          error={error}
          onRetry={() => void refetch()}
        />
      )}
      {data?.problem && <Warning>{data.problem}</Warning>}
      <SimpleGrid type="container" cols={{ base: 1, '824px': 2 }} spacing="lg">
        <Facts state={data} />
        <Waiting state={data} />
      </SimpleGrid>
      <section className={classes.section}>
        <h2>Projects</h2>
        <p className="cb-dimmed">
          Text is estimated from the newest records of each project: calls, and knowledge without its vectors.
        </p>
        <ProjectTable rows={data?.projects} />
      </section>
      <section className={classes.section}>
        <h2>Keys</h2>
        <p className="cb-dimmed">
          The keys in use, the last used first. Requests are those to this process since it started.
        </p>
        <KeyTable rows={data?.keys} />
      </section>
      <SecondFactors />
    </>
  )
}

const kinds = { file: 'A file on this machine', replica: 'A replica on this machine', server: 'On a server' }

interface StateProps {
  /** Undefined while it loads. */
  state: ServiceAnswer | undefined
}

function Facts({ state }: StateProps) {
  return (
    <Panel title="This service">
      <dl className={classes.facts}>
        <Fact name="Version">{state && <Mono>{state.version}</Mono>}</Fact>
        <Fact name="Started">{state && <Instant at={state.startedAt} as="moment" />}</Fact>
        <Fact name="Database">{state && databaseOf(state.database)}</Fact>
        <Fact name="Last backup">{state && <Backup state={state} />}</Fact>
        <Fact name="Embeddings">
          {state && `${state.embedder.destination}${dimensionsOf(state.embedder)}`}
        </Fact>
        <Fact name="Analysis">{state && (state.model ?? 'No model is configured')}</Fact>
      </dl>
    </Panel>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children ?? '…'}</dd>
    </div>
  )
}

function databaseOf({ kind, bytes, freeBytes }: ServiceAnswer['database']): string {
  return [
    kinds[kind],
    ...(bytes === null ? [] : [asBytes(bytes)]),
    ...(freeBytes === null ? [] : [`${asBytes(freeBytes)} free on its disk`]),
  ].join(' · ')
}

function dimensionsOf({ dimensions }: ServiceAnswer['embedder']): string {
  return dimensions === null ? '' : ` · ${dimensions} dimensions`
}

function Backup({ state: { lastBackup, database } }: { state: ServiceAnswer }) {
  if (database.kind !== 'file') return 'The database’s own server makes them'
  if (!lastBackup) return 'None from this folder yet'
  return (
    <span>
      <Instant at={lastBackup.at} /> · {asBytes(lastBackup.bytes)}
    </span>
  )
}

function Waiting({ state }: StateProps) {
  return (
    <Panel title="Waiting">
      <QueueTable rows={state?.queues} />
    </Panel>
  )
}
