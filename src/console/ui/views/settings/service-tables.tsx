import type { ProjectSize } from '../../../operator/project-sizes.ts'
import type { KeyUse, Queue } from '../../../operator/service-state.ts'
import { asBytes, asCount } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'

/** The service counts no further. */
const countedMax = 100_000

/** `12`, `100,000+`. */
function counted(count: number): string {
  return count < countedMax ? asCount(count) : `${asCount(countedMax)}+`
}

const queueNames: Record<Queue['name'], string> = {
  webhooks: 'Events for webhooks',
  analyses: 'Calls to analyze',
  recordings: 'Recordings to fetch',
  chunks: 'Chunks to embed',
  erasures: 'Deletions to erase',
}

export function QueueTable({ rows }: { rows: readonly Queue[] | undefined }) {
  return (
    <ListTable
      label="Waiting"
      rows={rows}
      rowKey={({ name }) => name}
      expectedRows={Object.keys(queueNames).length}
      columns={[
        { key: 'name', header: 'What', render: ({ name }) => queueNames[name] },
        {
          key: 'waiting',
          header: 'Waiting',
          width: '88px',
          align: 'right',
          render: ({ waiting }) => counted(waiting),
        },
        {
          key: 'oldest',
          header: 'Since',
          width: '112px',
          from: 480,
          render: ({ oldestAt }) => oldestAt && <Instant at={oldestAt} />,
        },
      ]}
    />
  )
}

const projectColumns: Column<ProjectSize>[] = [
  { key: 'name', header: 'Project', render: ({ name }) => <bdi>{name}</bdi> },
  { key: 'calls', header: 'Calls', width: '96px', align: 'right', render: ({ calls }) => asCount(calls) },
  {
    key: 'items',
    header: 'Items',
    width: '96px',
    align: 'right',
    from: 640,
    render: ({ items }) => counted(items),
  },
  {
    key: 'chunks',
    header: 'Chunks',
    width: '96px',
    align: 'right',
    from: 640,
    render: ({ chunks }) => counted(chunks),
  },
  {
    key: 'recordings',
    header: 'Recordings',
    width: '112px',
    align: 'right',
    from: 640,
    render: ({ recordings }) => counted(recordings),
  },
  {
    key: 'text',
    header: 'Text, about',
    width: '112px',
    align: 'right',
    render: ({ textBytes }) => asBytes(textBytes),
  },
  {
    key: 'sound',
    header: 'Sound',
    width: '96px',
    align: 'right',
    from: 640,
    render: ({ recordingBytes }) => asBytes(recordingBytes),
  },
]

export function ProjectTable({ rows }: { rows: readonly ProjectSize[] | undefined }) {
  return (
    <ListTable
      label="Projects"
      rows={rows}
      rowKey={({ id }) => id}
      expectedRows={3}
      columns={projectColumns}
    />
  )
}

const keyColumns: Column<KeyUse>[] = [
  { key: 'name', header: 'Key', render: ({ name }) => <bdi>{name}</bdi> },
  {
    key: 'kind',
    header: 'Kind',
    width: '96px',
    from: 640,
    render: ({ kind }) => (kind === 'live' ? 'API' : 'Ingest'),
  },
  { key: 'project', header: 'Project', from: 480, render: ({ project }) => <bdi>{project}</bdi> },
  {
    key: 'requests',
    header: 'Requests',
    width: '96px',
    align: 'right',
    render: ({ requests }) => asCount(requests),
  },
  {
    key: 'used',
    header: 'Last used',
    width: '128px',
    render: ({ lastUsedAt }) =>
      lastUsedAt ? <Instant at={lastUsedAt} /> : <span className="cb-dimmed">never</span>,
  },
]

export function KeyTable({ rows }: { rows: readonly KeyUse[] | undefined }) {
  return <ListTable label="Keys" rows={rows} rowKey={({ id }) => id} expectedRows={3} columns={keyColumns} />
}
