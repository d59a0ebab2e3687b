import { Button } from '@mantine/core'
import { IconAlertTriangle, IconPlug, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { setUpOf } from '../../../../sources/catalog.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'
import { LastCall } from './integration-view.tsx'
import { type Integration, integrations } from './integrations.ts'
import { NewSourceDialog } from './new-source-dialog.tsx'
import { OwnersOnly } from './owners-only.tsx'
import { sourcesQuery } from './source-queries.ts'
import { SourceState } from './source-state.tsx'

/** What sends calls into the project, and what asks for its knowledge. */
export function IntegrationsView() {
  return (
    <OwnersOnly title="Integrations">
      <Integrations />
    </OwnersOnly>
  )
}

function Integrations() {
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
  const openIntegration = (integration: string) =>
    void navigate({
      to: '/p/$project/settings/integrations/$integration',
      params: { project, integration },
    })
  const addButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen(true)}>
      Add source
    </Button>
  )
  const empty = (
    <Empty icon={<IconPlug size={24} />} title="No sources yet" action={addButton}>
      A source is the address that you give to a voice platform's webhook. Its calls then appear here by
      themselves: Vapi, Retell, ElevenLabs, Bland, Telnyx, Ultravox, Synthflow, Cartesia and Dograh.
    </Empty>
  )
  return (
    <>
      <PageHeader
        title="Integrations"
        description="Voice platforms whose calls come to this project, and agents that ask for its knowledge."
        action={addButton}
      />
      <h2 className="cb-section-title">Sources</h2>
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
      <section className="cb-section">
        <h2>OpenTelemetry</h2>
        <ListTable
          label="OpenTelemetry"
          columns={[nameColumn, lastCallColumn(project)]}
          rows={integrations.filter(({ access }) => access === 'ingest')}
          rowKey={({ name }) => name}
          onOpen={({ name }) => openIntegration(name)}
        />
      </section>
      <section className="cb-section">
        <h2>Let agents ask</h2>
        <ListTable
          label="Let agents ask"
          columns={[nameColumn, useColumn]}
          rows={integrations.filter(({ access }) => access === 'search')}
          rowKey={({ name }) => name}
          onOpen={({ name }) => openIntegration(name)}
        />
      </section>
      <NewSourceDialog opened={create === 'source'} onClose={() => setOpen(false)} onMade={open} />
    </>
  )
}

const nameColumn: Column<Integration> = {
  key: 'name',
  header: 'Name',
  render: ({ label }) => <span className="cb-key-name cb-truncate">{label}</span>,
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

function lastCallColumn(project: string): Column<Integration> {
  return {
    key: 'last',
    header: 'Last call',
    width: '232px',
    render: ({ name }) => <LastCall project={project} source={name} />,
  }
}

const columns: Column<SourceRecord>[] = [
  {
    key: 'name',
    header: 'Name',
    render: ({ name }) => <span className="cb-key-name cb-truncate">{name}</span>,
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
    header: 'Not read',
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
