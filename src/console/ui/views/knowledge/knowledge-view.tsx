import { Button, Group, Stack, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import { IconBook2, IconMessageQuestion, IconPlus, IconSearchOff, IconUpload } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import type { KnowledgeRow } from '../../../../knowledge/indexed-items.ts'
import { Empty } from '../../components/empty.tsx'
import { asBytes, asCount, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageButton, PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { useRefusal } from '../../session.ts'
import { readableFiles } from './documents.ts'
import { exampleDocuments } from './example-documents.ts'
import { IndexStatus } from './index-status.tsx'
import classes from './knowledge.module.css'
import { itemsQuery, rowsOf } from './queries.ts'
import { UploadList } from './upload-list.tsx'
import { useUploads } from './use-uploads.ts'

const route = getRouteApi('/p/$project/knowledge')

/** The list of items, where files can also be dropped. */
export function KnowledgeView() {
  const { project } = route.useParams()
  const navigate = useNavigate()
  const { name } = route.useSearch()
  const items = useInfiniteQuery(itemsQuery(project, name))
  const { uploads, addFiles, addDocuments, clear } = useUploads(project)
  const mayChange = useRefusal('change') === null
  const openPicker = useRef<() => void>(null)
  const rows = rowsOf(items.data)
  const total = items.data?.pages[0]?.total ?? 0
  const find = (next: string) => {
    // While typing continues, it stays one history entry.
    const replace = name !== undefined && next !== ''
    void navigate({
      to: '/p/$project/knowledge',
      params: { project },
      search: { name: next || undefined },
      replace,
    })
  }

  return (
    <Stack gap="md">
      <PageHeader
        title="Knowledge"
        description={items.data && counted(total, 'item')}
        action={<ItemActions project={project} onUpload={() => openPicker.current?.()} />}
      />
      <Dropzone.FullScreen
        withinPortal={false}
        active={mayChange}
        onDrop={(files) => void addFiles(files)}
        openRef={openPicker}
        multiple
        // Hidden until a file is dragged over the page.
        activateOnKeyboard={false}
      >
        <DropHint />
      </Dropzone.FullScreen>
      <UploadList project={project} uploads={uploads} onClear={clear} />
      {(rows.length > 0 || name !== undefined || items.isPending) && (
        <search className={classes.searchRow} aria-label="Find items">
          <SearchField label="Find by name" text={name ?? ''} onSearch={find} />
        </search>
      )}
      {items.error && !items.data ? (
        <Problem
          title="The items could not be loaded"
          error={items.error}
          onRetry={() => void items.refetch()}
        />
      ) : (
        <ListTable
          label="Knowledge items"
          rows={items.data && rows}
          isStale={items.isPlaceholderData}
          rowKey={(row) => row.id}
          onOpen={(row) =>
            void navigate({ to: '/p/$project/knowledge/$item', params: { project, item: row.id } })
          }
          columns={columnsOf(project)}
          empty={
            name !== undefined ? (
              <NoMatches onShowAll={() => find('')} />
            ) : (
              <NoItems onExamples={() => void addDocuments(exampleDocuments)} />
            )
          }
        />
      )}
      {items.hasNextPage && (
        <Button
          variant="default"
          style={{ alignSelf: 'center' }}
          loading={items.isFetchingNextPage}
          onClick={() => void items.fetchNextPage()}
        >
          Load more
        </Button>
      )}
    </Stack>
  )
}

function ItemActions({ project, onUpload }: { project: string; onUpload: () => void }) {
  return (
    <Group gap="xs">
      <PageButton
        variant="default"
        to="/p/$project/questions"
        params={{ project }}
        leftSection={<IconMessageQuestion size={16} />}
      >
        Questions
      </PageButton>
      <Guarded right="change">
        <Button variant="default" leftSection={<IconUpload size={16} />} onClick={onUpload}>
          Upload files
        </Button>
      </Guarded>
      <Guarded right="change">
        <PageButton to="/p/$project/new-item" params={{ project }} leftSection={<IconPlus size={16} />}>
          New item
        </PageButton>
      </Guarded>
    </Group>
  )
}

function NoMatches({ onShowAll }: { onShowAll: () => void }) {
  return (
    <Empty
      icon={<IconSearchOff size={24} />}
      title="No item name contains this"
      action={
        <Button variant="default" onClick={onShowAll}>
          Show all items
        </Button>
      }
    >
      To search the items’ text, use the playground.
    </Empty>
  )
}

function NoItems({ onExamples }: { onExamples: () => void }) {
  return (
    <Empty
      icon={<IconBook2 size={24} />}
      title="No knowledge yet"
      action={
        <Guarded right="change">
          <Button variant="default" onClick={onExamples}>
            Load three example documents
          </Button>
        </Guarded>
      }
    >
      Agents answer from what you write here: policies, opening hours, prices. Write an item, drop{' '}
      {readableFiles} files anywhere on this page, or start with examples from a made-up shop.
    </Empty>
  )
}

function columnsOf(project: string): Column<KnowledgeRow>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      render: (row) => (
        <>
          <PageLink to="/p/$project/knowledge/$item" params={{ project, item: row.id }} c="inherit" fw={500}>
            {row.name}
          </PageLink>
          {row.description && (
            <Text size="xs" c="dimmed" lineClamp={1}>
              {row.description}
            </Text>
          )}
          <span className="cb-narrow-line">
            <IndexStatus status={row.status} chunks={row.chunks} />
          </span>
        </>
      ),
    },
    {
      key: 'status',
      header: 'Status',
      width: '200px',
      from: 480,
      render: (row) => <IndexStatus status={row.status} chunks={row.chunks} />,
    },
    {
      key: 'chunks',
      header: 'Chunks',
      width: '80px',
      align: 'right',
      from: 640,
      render: (row) => <span className="cb-figure">{asCount(row.chunks)}</span>,
    },
    {
      key: 'size',
      header: 'Size',
      width: '90px',
      align: 'right',
      from: 640,
      render: (row) => <span className="cb-figure">{asBytes(row.textBytes)}</span>,
    },
    {
      key: 'created',
      header: 'Created',
      width: '120px',
      from: 480,
      render: (row) => <Instant at={row.createdAt} />,
    },
  ]
}

function DropHint() {
  return (
    <Stack align="center" justify="center" h="60vh" gap="xs" style={{ pointerEvents: 'none' }}>
      <IconUpload size={40} stroke={1.5} />
      <Text size="lg" fw={600}>
        Drop {readableFiles} files
      </Text>
      <Text c="dimmed">Each file becomes an item named after its title.</Text>
    </Stack>
  )
}
