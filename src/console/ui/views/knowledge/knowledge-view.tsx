import { Box, Button, Checkbox, CloseButton, Group, MultiSelect, Stack, Text, Title } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBook2,
  IconCheck,
  IconLoader2,
  IconMessageQuestion,
  IconPlus,
  IconSearchOff,
  IconTag,
  IconTrash,
  IconUpload,
} from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import type { KnowledgeRow, IndexStatus as Status, Writer } from '../../../../knowledge/indexed-items.ts'
import type { ExplainedHit } from '../../../../knowledge/search/explain.ts'
import { isTag } from '../../../../text/tags.ts'
import { pathOf } from '../../api.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { useConfirm, useShow } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { asBytes, asCount, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Highlight } from '../../components/highlight.tsx'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageButton, PageLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { type Column, PagedTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useProject, useRefusal } from '../../session.ts'
import { exampleDocuments } from './example-documents.ts'
import { excerptOf, rangesOf } from './excerpt.ts'
import classes from './knowledge.module.css'
import { passagesMax, readableFiles, rowsOf, useItems, useTextHits, useTimesFound } from './queries.ts'
import { TagChips, TagsField, TagsFilter } from './tags-field.tsx'
import { DropArea, UploadList, useUploads } from './uploads.tsx'

const route = getRouteApi('/p/$project/knowledge')

/** As many as one request deletes. */
const chosenMax = 200
const namedMax = 5

/** The chosen items, by id. */
interface Chosen {
  ids: ReadonlySet<string>
  choose: (ids: readonly string[]) => void
}

/** The list of items, where files can also be dropped. */
export function KnowledgeView() {
  const navigate = useNavigate()
  const { find: sought, tags = [] } = route.useSearch()
  const items = useItems(sought, tags)
  const timesFound = useTimesFound()
  const chosen = useChosen(JSON.stringify([sought, tags]))
  const mayDelete = useRefusal('delete') === null
  const { uploads, addFiles, addDocuments, answer, clear } = useUploads()
  const mayChange = useRefusal('change') === null
  const openPicker = useRef<() => void>(null)
  const rows = rowsOf(items.data)
  const find = (next: string) => {
    // While typing continues, it stays one history entry.
    const replace = sought !== undefined && next !== ''
    void navigate({
      ...to.knowledge,
      search: (before) => ({ ...before, find: next || undefined }),
      replace,
    })
  }
  const filter = (next: string[]) =>
    void navigate({
      ...to.knowledge,
      search: (before) => ({ ...before, tags: next.length > 0 ? next : undefined }),
    })
  const isLimited = sought !== undefined || tags.length > 0
  return (
    <Stack gap="md">
      <PageHeader
        title="Knowledge"
        description={items.data && counted(items.data.pages[0]?.total ?? 0, 'item')}
        action={<ItemActions onUpload={() => openPicker.current?.()} />}
      />
      <DropArea
        isActive={mayChange}
        onDrop={(files) => void addFiles(files)}
        openRef={openPicker}
        icon={IconUpload}
        title={`Drop ${readableFiles} files`}
        text="Each file becomes an item named after its title."
      />
      <UploadList uploads={uploads} answer={answer} clear={clear} />
      {(rows.length > 0 || isLimited || items.isPending) && (
        <Group component="search" aria-label="Find items">
          <SearchField label="Find by name or text" text={sought ?? ''} onSearch={find} />
          <TagsFilter value={tags} onChange={filter} />
        </Group>
      )}
      <PagedTable
        label="Knowledge items"
        of={items}
        what="The items"
        more="Load more"
        rows={items.data && rows}
        isStale={items.isPlaceholderData}
        rowKey={(row) => row.id}
        onOpen={(row) => void navigate(to.item(row.id))}
        columns={({ cell, figure }) => [
          ...(mayDelete || mayChange ? [choiceColumn(rows, chosen)] : []),
          cell('Name', (row) => <Name row={row} />),
          cell('Status', (row) => <IndexStatus status={row.status} chunks={row.chunks} />, {
            width: '160px',
            from: 640,
          }),
          figure('Chunks', ({ chunks }) => asCount(chunks), '80px', 800),
          figure('Size', ({ textBytes }) => asBytes(textBytes), '90px', 800),
          ...(timesFound ? [figure('Found', ({ id }) => timesOf(timesFound.of(id)), '80px', 640)] : []),
          cell('Updated', (row) => <Updated row={row} />, { width: '230px', from: 640 }),
        ]}
        empty={
          sought !== undefined ? (
            <NoMatches words={sought} onShowAll={() => find('')} />
          ) : tags.length > 0 ? (
            <p className="cb-dimmed">No item has one of these tags.</p>
          ) : (
            <NoItems onExamples={() => void addDocuments(exampleDocuments)} />
          )
        }
      />
      {sought !== undefined && <TextHits words={sought} />}
      {timesFound && rows.length > 0 && (
        <p className={`cb-dimmed ${classes.foundNote}`}>
          “Found” counts the questions that agents asked in the last {timesFound.days} days and whose first
          passage was from the item. Searches in this console do not count.
        </p>
      )}
      <ChosenItems chosen={chosen} rows={rows} />
    </Stack>
  )
}

/** @param shown which items are shown */
function useChosen(shown: string): Chosen {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [shownBefore, setShownBefore] = useState(shown)
  if (shown !== shownBefore) {
    // What is out of sight must not be changed.
    setShownBefore(shown)
    setIds(new Set())
  }
  return { ids, choose: (next) => setIds(new Set(next.slice(0, chosenMax))) }
}

function ItemActions({ onUpload }: { onUpload: () => void }) {
  return (
    <Group gap="xs">
      <PageButton variant="default" {...to.questions} leftSection={<IconMessageQuestion size={16} />}>
        Questions
      </PageButton>
      <Guarded right="change">
        <TextButton icon={IconUpload} label="Upload files" variant="default" onClick={onUpload} />
      </Guarded>
      <Guarded right="change">
        <PageButton {...to.newItem} leftSection={<IconPlus size={16} />}>
          New item
        </PageButton>
      </Guarded>
    </Group>
  )
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

function timesOf(times: number | null): string {
  return times === null ? '–' : asCount(times)
}

function Name({ row }: { row: KnowledgeRow }) {
  return (
    <>
      <PageLink {...to.item(row.id)} c="inherit" fw={500} dir="auto">
        {row.name}
      </PageLink>
      {row.description && (
        <Text size="xs" c="dimmed" lineClamp={1} dir="auto">
          {row.description}
        </Text>
      )}
      <TagChips tags={row.tags} />
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

/** How many items are chosen, and the buttons that tag or delete them. */
function ChosenItems({ chosen: { ids, choose }, rows }: { chosen: Chosen; rows: readonly KnowledgeRow[] }) {
  const { of } = useProject()
  const ask = useConfirm()
  const show = useShow()
  const mayDelete = useRefusal('delete') === null
  const queryClient = useQueryClient()
  if (ids.size === 0) return null
  const named = rows.filter(({ id }) => ids.has(id)).slice(0, namedMax)
  const count = counted(ids.size, 'item')
  const remove = () =>
    ask({
      title: `Delete ${count}?`,
      verb: `Delete ${count}`,
      text: (
        <>
          <ul>
            {named.map(({ id, name }) => (
              <li key={id} dir="auto">
                {name}
              </li>
            ))}
            {ids.size > named.length && <li>and {asCount(ids.size - named.length)} more</li>}
          </ul>
          <p>
            This deletes their texts, chunks and vectors for good. Agents stop finding them at once. Legal
            holds keep calls, not knowledge, so none of these is held. This cannot be undone.
          </p>
        </>
      ),
      send: () => of.knowledge.delete({ ids: [...ids] }),
      changes: of.knowledge,
      says: ({ deleted }) => `${counted(deleted, 'item')} deleted, with chunks and vectors.`,
      done: () => {
        for (const id of ids) queryClient.removeQueries({ queryKey: pathOf(of.knowledge({ id })) })
        choose([])
      },
    })
  return (
    <Group
      component="section"
      aria-label="Selected items"
      gap="xs"
      py={6}
      px="sm"
      pos="sticky"
      bottom={16}
      bg="var(--cb-raised)"
      className="cb-box cb-figure"
      style={{ alignSelf: 'center', zIndex: 3, boxShadow: 'var(--mantine-shadow-md)' }}
    >
      <span role="status">
        {asCount(ids.size)} selected
        {ids.size === chosenMax && ', as many as can be changed at once'}
      </span>
      <Guarded right="change">
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconTag size={14} aria-hidden />}
          onClick={() =>
            show({
              title: `Tag ${count}`,
              content: (close) => <TagForm ids={[...ids]} tags={tagsOf(rows, ids)} onDone={close} />,
            })
          }
        >
          Tag
        </Button>
      </Guarded>
      {mayDelete && (
        <TextButton
          icon={IconTrash}
          label="Delete"
          size="compact-sm"
          variant="subtle"
          color="red"
          c="var(--cb-danger-text)"
          onClick={remove}
        />
      )}
      <CloseButton size="sm" aria-label="Clear selection" onClick={() => choose([])} />
    </Group>
  )
}

/** The tags that some of the chosen items have. */
function tagsOf(rows: readonly KnowledgeRow[], ids: ReadonlySet<string>): string[] {
  return [...new Set(rows.filter(({ id }) => ids.has(id)).flatMap(({ tags }) => tags))].sort()
}

/** Tags that many items gain, and those that they lose. @param tags those that they have */
function TagForm({ ids, tags, onDone }: { ids: string[]; tags: string[]; onDone: () => void }) {
  const { of } = useProject()
  const form = useApiForm({
    first: { add: [] as string[], remove: [] as string[] },
    isReady: ({ add, remove }) => add.length + remove.length > 0 && add.every(isTag),
    body: ({ add, remove }) => ({ ids, add, remove }),
    send: (body) => of.knowledge.patch(body),
    changes: of.knowledge,
    says: ({ changed }) => `${counted(changed, 'item')} changed.`,
    done: onDone,
  })
  return (
    <ApiForm form={form} label="Change tags" onCancel={onDone}>
      <TagsField label="Add" {...form.field('add')} />
      {tags.length > 0 && <MultiSelect label="Take away" data={tags} clearable {...form.input('remove')} />}
    </ApiForm>
  )
}

/** No name contains what is sought: a line where texts have it, else what to do next. */
function NoMatches({ words, onShowAll }: { words: string; onShowAll: () => void }) {
  const { data: inTexts } = useTextHits(words)
  if (!inTexts || inTexts.passages > 0) return <p className="cb-dimmed">No item name contains this.</p>
  return (
    <Empty
      icon={<IconSearchOff size={24} />}
      title="No item has this in its name or text"
      action={<TextButton label="Show all items" variant="default" onClick={onShowAll} />}
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
          <TextButton label="Load three example documents" variant="default" onClick={onExamples} />
        </Guarded>
      }
    >
      Agents answer from what you write here: policies, opening hours, prices. Write an item, drop{' '}
      {readableFiles} files anywhere on this page, or start with examples from a made-up shop.
    </Empty>
  )
}

/** The items that have these words in their texts, each with its best passage. */
export function TextHits({ words }: { words: string }) {
  const { data: hits, error, isPlaceholderData, refetch } = useTextHits(words)
  if (error && !hits)
    return <Problem title="The texts could not be searched" error={error} onRetry={() => void refetch()} />
  if (!hits || hits.passages === 0) return null
  return (
    <Stack component="section" gap="xs" aria-label="In texts" data-stale={isPlaceholderData || undefined}>
      <Title order={2} size="sm">
        In texts
      </Title>
      <p className="cb-dimmed">
        {hits.passages < passagesMax
          ? 'Passages that have the most of these words, in any of their forms.'
          : `The best ${passagesMax} passages for these words, in any of their forms.`}
      </p>
      <Stack component="ul" gap={0} className="cb-wrap">
        {hits.items.map((hit) => (
          <Hit key={hit.itemId} hit={hit} />
        ))}
      </Stack>
    </Stack>
  )
}

function Hit({ hit }: { hit: ExplainedHit }) {
  const excerpt = excerptOf(hit.text, hit.forms)
  return (
    <Box component="li" p="xs" style={{ borderBottom: '1px solid var(--cb-border)' }}>
      <PageLink {...to.item(hit.itemId)} c="inherit" fw={500} dir="auto">
        {hit.name}
      </PageLink>
      {hit.heading && hit.heading !== hit.name && (
        <Text span size="xs" c="dimmed" dir="auto">
          {' '}
          {hit.heading}
        </Text>
      )}
      <p dir="auto">
        <Highlight text={excerpt} ranges={rangesOf(excerpt, hit.forms)} />
      </p>
    </Box>
  )
}

/** How far an item is indexed: ready, in progress, or waiting, with the reason and the next attempt. */
export function IndexStatus({ status, chunks }: { status: Status; chunks: number }) {
  if (status.state === 'ready') {
    return <StatusBadge tone="success" icon={IconCheck} label="Ready" />
  }
  const progress = `${status.ready}/${chunks}`
  if (status.state === 'indexing') {
    return <StatusBadge tone="accent" icon={IconLoader2} label={`Indexing ${progress}`} />
  }
  return (
    <>
      <StatusBadge tone="warning" icon={IconAlertTriangle} label={`Waiting ${progress}`} />
      <Text size="xs" c="dimmed" lineClamp={2} mt={2}>
        {status.reason}{' '}
        {status.nextTryAt ? (
          <>
            Next attempt <Instant at={status.nextTryAt} as="coming" />.
          </>
        ) : (
          'The next attempt starts now.'
        )}
      </Text>
    </>
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
