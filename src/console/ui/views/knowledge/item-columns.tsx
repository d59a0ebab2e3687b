import { Checkbox, Text } from '@mantine/core'
import type { KnowledgeRow, Writer } from '../../../../knowledge/indexed-items.ts'
import { asBytes, asCount } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import type { Column } from '../../components/list-table.tsx'
import { IndexStatus } from './index-status.tsx'

/** The chosen items, by id. */
export interface Chosen {
  ids: ReadonlySet<string>
  choose: (ids: readonly string[]) => void
}

interface ColumnsOptions {
  project: string
  rows: readonly KnowledgeRow[]
  /** Null for people who may not delete, the only thing to do with many items. */
  chosen: Chosen | null
  /** How often an item was found; null where that is not known. */
  timesFound: ((id: string) => number | null) | null
}

export function itemColumns({ project, rows, chosen, timesFound }: ColumnsOptions): Column<KnowledgeRow>[] {
  return [
    ...(chosen ? [choiceColumn(rows, chosen)] : []),
    { key: 'name', header: 'Name', render: (row) => <Name project={project} row={row} /> },
    {
      key: 'status',
      header: 'Status',
      width: '160px',
      from: 480,
      render: (row) => <IndexStatus status={row.status} chunks={row.chunks} />,
    },
    {
      key: 'chunks',
      header: 'Chunks',
      width: '80px',
      align: 'right',
      from: 800,
      render: (row) => <span className="cb-figure">{asCount(row.chunks)}</span>,
    },
    {
      key: 'size',
      header: 'Size',
      width: '90px',
      align: 'right',
      from: 800,
      render: (row) => <span className="cb-figure">{asBytes(row.textBytes)}</span>,
    },
    ...(timesFound ? [foundColumn(timesFound)] : []),
    { key: 'updated', header: 'Updated', width: '230px', from: 640, render: (row) => <Updated row={row} /> },
  ]
}

function choiceColumn(rows: readonly KnowledgeRow[], { ids, choose }: Chosen): Column<KnowledgeRow> {
  const isAll = rows.length > 0 && rows.every(({ id }) => ids.has(id))
  return {
    key: 'choice',
    width: '36px',
    header: (
      <Checkbox
        size="xs"
        aria-label="Select all loaded items"
        checked={isAll}
        indeterminate={!isAll && ids.size > 0}
        onChange={() => choose(isAll ? [] : rows.map(({ id }) => id))}
      />
    ),
    render: ({ id, name }) => (
      <Checkbox
        size="xs"
        aria-label={`Select ${name}`}
        checked={ids.has(id)}
        onChange={() => choose(ids.has(id) ? [...ids].filter((other) => other !== id) : [...ids, id])}
      />
    ),
  }
}

function foundColumn(timesFound: (id: string) => number | null): Column<KnowledgeRow> {
  return {
    key: 'found',
    header: 'Found',
    width: '80px',
    align: 'right',
    from: 640,
    render: ({ id }) => {
      const times = timesFound(id)
      return <span className="cb-figure">{times === null ? '–' : asCount(times)}</span>
    },
  }
}

function Name({ project, row }: { project: string; row: KnowledgeRow }) {
  return (
    <>
      <PageLink
        to="/p/$project/knowledge/$item"
        params={{ project, item: row.id }}
        c="inherit"
        fw={500}
        dir="auto"
      >
        {row.name}
      </PageLink>
      {row.description && (
        <Text size="xs" c="dimmed" lineClamp={1} dir="auto">
          {row.description}
        </Text>
      )}
      <span className="cb-narrow-line">
        <IndexStatus status={row.status} chunks={row.chunks} />
      </span>
    </>
  )
}

function Updated({ row: { updatedAt, updatedBy } }: { row: KnowledgeRow }) {
  return (
    <span className="cb-truncate">
      <Instant at={updatedAt} />
      <span className="cb-dimmed">
        {' '}
        by <WriterName writer={updatedBy} />
      </span>
    </span>
  )
}

/** Who wrote an item last. */
export function WriterName({ writer }: { writer: Writer | null }) {
  if (writer === null) return 'the command line'
  if (writer.name === null) return writer.isKey ? 'a deleted key' : 'a deleted person'
  return (
    <>
      {writer.isKey && 'key '}
      <bdi>{writer.name}</bdi>
    </>
  )
}
