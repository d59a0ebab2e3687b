import { Button } from '@mantine/core'
import { IconAlertTriangle, IconPlug, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { setUpOf } from '../../../../sources/catalog.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'
import { CallLink } from './integration-view.tsx'
import { type Integration, integrations } from './integrations.ts'
import { NewSourceDialog } from './new-source-dialog.tsx'
import classes from './settings.module.css'
import { lastCallQuery, sourcesQuery } from './source-queries.ts'
import { SourceState } from './source-state.tsx'

/** What sends calls into the project, and what asks for its knowledge. */
export function IntegrationsView() {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(sourcesQuery(project))
  const { create } = useSearch({ from: '/p/$project/settings/integrations' })
  const navigate = useNavigate({ from: '/p/$project/settings/integrations' })
  const setOpen = (isOpen: boolean) =>
    void navigate({ to: '.', search: isOpen ? { create: 'source' } : {}, replace: true, ignoreBlocker: true })
  const open = (source: string) =>
    void navigate({
      to: '/p/$project/settings/integrations/sources/$source',
      params: { project, source },
      ignoreBlocker: true,
    })
  const addButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen(true)}>
      Add source
    </Button>
  )
  const empty = (
    <Empty icon={<IconPlug size={24} />} title="No sources yet" action={addButton}>
      A source is an address that you give to a voice platform. The platform’s calls then appear here
      automatically. Works with Vapi, Retell, ElevenLabs, Bland, Telnyx, Ultravox, Synthflow, Cartesia, Dograh
      and LiveKit Agents.
    </Empty>
  )
  return (
    <>
      <PageHeader
        title="Integrations"
        description="Voice platforms that send calls to this project, and agents that search its knowledge."
        action={data?.data.length ? addButton : undefined}
      />
      <h2 className={classes.sectionTitle}>Sources</h2>
      {error && !data ? (
        <Problem error={error} title="The sources could not be loaded" onRetry={() => void refetch()} />
      ) : (
        <ListTable
          label="Sources"
          columns={columns}
          rows={data?.data}
          rowKey={({ id }) => id}
          onOpen={({ id }) => open(id)}
          expectedRows={3}
          empty={empty}
        />
      )}
      <ByKey title="OpenTelemetry" access="ingest" column={lastCallColumn(project)} />
      <ByKey title="Connect agents" access="search" column={useColumn} />
      <NewSourceDialog opened={create === 'source'} onClose={() => setOpen(false)} onMade={open} />
    </>
  )
}

/** The integrations that have keys of one access. */
function ByKey({
  title,
  access,
  column,
}: Pick<Integration, 'access'> & { title: string; column: Column<Integration> }) {
  const { id: project } = useProject()
  const navigate = useNavigate()
  const to = '/p/$project/settings/integrations/$integration'
  return (
    <section className={classes.section}>
      <h2>{title}</h2>
      <ListTable
        label={title}
        columns={[nameColumn, column]}
        rows={integrations.filter((each) => each.access === access)}
        rowKey={({ name }) => name}
        onOpen={({ name }) => void navigate({ to, params: { project, integration: name } })}
      />
    </section>
  )
}

const nameColumn: Column<Integration> = {
  key: 'name',
  header: 'Name',
  render: (row) => <IntegrationLink integration={row} />,
}

function IntegrationLink({ integration: { name, label } }: { integration: Integration }) {
  const { id: project } = useProject()
  return (
    <span className={classes.keyName}>
      <PageLink
        to="/p/$project/settings/integrations/$integration"
        params={{ project, integration: name }}
        c="inherit"
        className="cb-truncate"
      >
        {label}
      </PageLink>
    </span>
  )
}

function SourceLink({ source: { id, name } }: { source: SourceRecord }) {
  const { id: project } = useProject()
  return (
    <span className={classes.keyName}>
      <PageLink
        to="/p/$project/settings/integrations/sources/$source"
        params={{ project, source: id }}
        c="inherit"
        className="cb-truncate"
        dir="auto"
      >
        {name}
      </PageLink>
    </span>
  )
}

const useColumn: Column<Integration> = {
  key: 'use',
  header: 'What it does',
  width: '65%',
  from: 640,
  render: ({ description }) => (
    <span className="cb-dimmed cb-truncate" title={description}>
      {description}
    </span>
  ),
}

function LastCall({ project, source }: { project: string; source: string }) {
  const { data } = useQuery(lastCallQuery(project, source))
  const [last] = data?.data ?? []
  if (last) return <CallLink call={last} project={project} />
  return data ? <span className="cb-dimmed">None yet</span> : null
}

function lastCallColumn(project: string): Column<Integration> {
  return {
    key: 'last',
    header: 'Last call',
    width: '120px',
    render: ({ name }) => <LastCall project={project} source={name} />,
  }
}

const columns: Column<SourceRecord>[] = [
  {
    key: 'name',
    header: 'Name',
    render: (row) => <SourceLink source={row} />,
  },
  {
    key: 'platform',
    header: 'Platform',
    width: '120px',
    from: 640,
    render: ({ platform }) => setUpOf(platform).label,
  },
  {
    key: 'state',
    header: 'Last event',
    width: '232px',
    render: (row) => <SourceState source={row} />,
  },
  {
    key: 'events',
    header: 'Events',
    width: '88px',
    align: 'right',
    from: 480,
    render: ({ events }) => <span className="cb-figure">{asCount(events)}</span>,
  },
  {
    key: 'failures',
    header: 'Failed',
    width: '104px',
    align: 'right',
    from: 480,
    render: ({ failures }) =>
      failures === 0 ? (
        <span className="cb-dimmed cb-figure">0</span>
      ) : (
        <StatusBadge tone="danger" icon={<IconAlertTriangle size={12} />}>
          {asCount(failures)}
        </StatusBadge>
      ),
  },
]
