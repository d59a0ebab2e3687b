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
import { NewSourceDialog } from './new-source-dialog.tsx'
import { OwnersOnly } from './owners-only.tsx'
import { sourcesQuery } from './source-queries.ts'
import { SourceState } from './source-state.tsx'

/** The platforms that send calls into the project. */
export function SourcesView() {
  return (
    <OwnersOnly title="Sources">
      <Sources />
    </OwnersOnly>
  )
}

function Sources() {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(sourcesQuery(project))
  const { create } = useSearch({ from: '/p/$project/settings/sources' })
  const navigate = useNavigate({ from: '/p/$project/settings/sources' })
  const setOpen = (isOpen: boolean) =>
    void navigate({ to: '.', search: isOpen ? { create: 'source' } : {}, replace: true, ignoreBlocker: true })
  const open = (source: string) =>
    void navigate({
      to: '/p/$project/settings/sources/$source',
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
      A source is the address that you give to a voice platform's webhook. Its calls then appear here by
      themselves: Vapi, Retell, ElevenLabs, Bland, Telnyx, Ultravox, Synthflow, Cartesia and Dograh.
    </Empty>
  )
  return (
    <>
      <PageHeader
        title="Sources"
        description="Voice platforms whose webhooks send their calls to this project."
        action={addButton}
      />
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
      <NewSourceDialog opened={create === 'source'} onClose={() => setOpen(false)} onMade={open} />
    </>
  )
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
