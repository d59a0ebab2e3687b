import { Button, Group, Stack, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import { IconBook2, IconMessageQuestion, IconPlus, IconSearchOff, IconUpload } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { PageButton } from '../../components/links.tsx'
import { ListTable } from '../../components/list-table.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { useRefusal } from '../../session.ts'
import { ChosenItems, chosenMax } from './chosen-items.tsx'
import { readableFiles } from './documents.ts'
import { exampleDocuments } from './example-documents.ts'
import { itemColumns } from './item-columns.tsx'
import classes from './knowledge.module.css'
import { itemsQuery, rowsOf, textHitsQuery } from './queries.ts'
import { TextHits } from './text-hits.tsx'
import { TimesFoundNote, useTimesFound } from './times-found.tsx'
import { UploadList } from './upload-list.tsx'
import { useUploads } from './use-uploads.ts'

const route = getRouteApi('/p/$project/knowledge')

/** The list of items, where files can also be dropped. */
export function KnowledgeView() {
  const { project } = route.useParams()
  const navigate = useNavigate()
  const { find: sought } = route.useSearch()
  const items = useInfiniteQuery(itemsQuery(project, sought))
  const timesFound = useTimesFound(project)
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const chosen = { ids, choose: (next: readonly string[]) => setIds(new Set(next.slice(0, chosenMax))) }
  const [soughtBefore, setSoughtBefore] = useState(sought)
  if (sought !== soughtBefore) {
    // What is out of sight must not be deleted.
    setSoughtBefore(sought)
    setIds(new Set())
  }
  const mayDelete = useRefusal('delete') === null
  const { uploads, addFiles, addDocuments, answer, clear } = useUploads(project)
  const mayChange = useRefusal('change') === null
  const openPicker = useRef<() => void>(null)
  const rows = rowsOf(items.data)
  const total = items.data?.pages[0]?.total ?? 0
  const find = (next: string) => {
    // While typing continues, it stays one history entry.
    const replace = sought !== undefined && next !== ''
    void navigate({
      to: '/p/$project/knowledge',
      params: { project },
      search: { find: next || undefined },
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
      <UploadList
        project={project}
        uploads={uploads}
        onAnswer={(upload, twin) => void answer(upload, twin)}
        onClear={clear}
      />
      {(rows.length > 0 || sought !== undefined || items.isPending) && (
        <search className={classes.searchRow} aria-label="Find items">
          <SearchField label="Find by name or text" text={sought ?? ''} onSearch={find} />
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
          columns={itemColumns({
            project,
            rows,
            chosen: mayDelete ? chosen : null,
            timesFound: timesFound?.of ?? null,
          })}
          empty={
            sought !== undefined ? (
              <NoMatches project={project} words={sought} onShowAll={() => find('')} />
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
      {sought !== undefined && <TextHits project={project} words={sought} />}
      {timesFound && rows.length > 0 && <TimesFoundNote days={timesFound.days} />}
      <ChosenItems project={project} chosen={chosen} rows={rows} />
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

interface NoMatchesProps {
  project: string
  words: string
  onShowAll: () => void
}

/** No name contains what is sought: a line where texts have it, else what to do next. */
function NoMatches({ project, words, onShowAll }: NoMatchesProps) {
  const { data: inTexts } = useQuery(textHitsQuery(project, words))
  if (!inTexts || inTexts.passages > 0) return <p className="cb-dimmed">No item name contains this.</p>
  return (
    <Empty
      icon={<IconSearchOff size={24} />}
      title="No item has this in its name or text"
      action={
        <Button variant="default" onClick={onShowAll}>
          Show all items
        </Button>
      }
    >
      To search by meaning, as agents do, use the playground.
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
