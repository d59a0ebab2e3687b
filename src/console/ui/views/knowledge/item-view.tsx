import { Group, SegmentedControl, Skeleton, Stack, Tabs, Text } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { ItemDetails } from '../../../../knowledge/indexed-items.ts'
import { ApiProblem, pathOf, read } from '../../api.ts'
import { CopyButton, Mono } from '../../components/code.tsx'
import { useConfirm } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { asBytes, asCount } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageButton, PageLink } from '../../components/links.tsx'
import { Loaded } from '../../components/page.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { to } from '../../components/to.ts'
import { useProject, useRefusal } from '../../session.ts'
import { AskForm } from '../playground/ask-form.tsx'
import { EditForm } from './item-form.tsx'
import { itemSearch } from './item-search.ts'
import { IndexStatus, WriterName } from './knowledge-view.tsx'
import { ChunkCard } from './preview-panel.tsx'
import { useItem } from './queries.ts'
import { TagChips } from './tags-field.tsx'

const route = getRouteApi('/p/$project/knowledge/$item')
const Markdown = lazy(() => import('./markdown.tsx'))

/** One item: its text, its stored chunks, and a form to ask it a question. */
export function ItemView() {
  const { item: id } = route.useParams()
  const { of } = useProject()
  const { tab = 'text' } = route.useSearch()
  const navigate = route.useNavigate()
  const item = useItem(id)
  const chunks = useQuery(read(of.knowledge({ id }).chunks))
  const mayChange = useRefusal('change') === null
  const remove = useRemoval()
  const { data } = item
  const showTab = (next: string | null) =>
    void navigate({
      to: '.',
      search: (search) => ({ ...search, ...itemSearch({ tab: next }) }),
      replace: true,
    })
  if (item.error instanceof ApiProblem && item.error.status === 404 && !data) return <NoSuchItem />
  if (item.error && !data) return <Problem error={item.error} onRetry={() => void item.refetch()} />
  return (
    <Stack gap="md">
      <PageHeader
        title={data?.name ?? 'Item'}
        description={
          <>
            {data?.description && `${data.description} · `}
            <PageLink {...to.knowledge}>All knowledge</PageLink>
          </>
        }
        action={
          <Guarded right="delete">
            <TextButton
              icon={IconTrash}
              label="Delete"
              variant="default"
              onClick={() => data && remove(data)}
              disabled={!data}
            />
          </Guarded>
        }
      />
      <Group gap="md" mih={24}>
        <Group gap={4}>
          <Mono>{id}</Mono>
          <CopyButton value={id} label="Copy id" />
        </Group>
        {data && <TagChips tags={data.tags} />}
        {data && <IndexStatus status={data.status} chunks={chunks.data?.data.length ?? 0} />}
        {data && (
          <Text size="sm" c="dimmed">
            Updated <Instant at={data.updatedAt} /> by <WriterName writer={data.updatedBy} /> · Created{' '}
            <Instant at={data.createdAt} /> · {asBytes(data.textBytes)}
          </Text>
        )}
      </Group>
      <Tabs value={tab === 'edit' && !mayChange ? 'text' : tab} onChange={showTab} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="text">Text</Tabs.Tab>
          {mayChange && <Tabs.Tab value="edit">Edit</Tabs.Tab>}
          <Tabs.Tab value="chunks">
            Chunks {chunks.data && <span className="cb-tab-count">{asCount(chunks.data.data.length)}</span>}
          </Tabs.Tab>
          <Tabs.Tab value="ask">Ask a question</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="text">
          {data ? <ItemText text={data.text} /> : <Skeleton height={320} />}
        </Tabs.Panel>
        <Tabs.Panel value="edit">
          {data && mayChange ? (
            <EditForm key={id} item={data} onSaved={() => showTab('text')} />
          ) : (
            <Skeleton height={320} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="chunks">
          <Loaded query={chunks} what="The chunks" waiting={<Skeleton height={320} />}>
            {({ data: stored }) => (
              <Stack gap="sm">
                {stored.map((chunk) => (
                  <ChunkCard
                    key={chunk.position}
                    {...chunk}
                    note={!chunk.isEmbedded && <StatusBadge tone="warning" label="Not embedded yet" />}
                  />
                ))}
              </Stack>
            )}
          </Loaded>
        </Tabs.Panel>
        <Tabs.Panel value="ask">
          <AskForm initial={{ query: '' }} itemIds={[id]} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}

function useRemoval() {
  const { of } = useProject()
  const ask = useConfirm()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return ({ id, name }: ItemDetails) =>
    ask({
      title: `Delete “${name}”?`,
      verb: 'Delete item',
      text: 'This deletes the item’s text, chunks and vectors for good. Agents stop finding it at once. This cannot be undone.',
      send: () => of.knowledge({ id }).delete(),
      says: 'Item deleted, with its chunks and vectors.',
      done: async () => {
        // Going back skips the deleted item.
        await navigate({ ...to.knowledge, replace: true })
        queryClient.removeQueries({ queryKey: pathOf(of.knowledge({ id })) })
        await queryClient.invalidateQueries({ queryKey: pathOf(of.knowledge) })
      },
    })
}

function NoSuchItem() {
  return (
    <>
      <PageHeader title="Item" />
      <Empty
        title="Item not found"
        action={
          <PageButton variant="default" {...to.knowledge}>
            All knowledge
          </PageButton>
        }
      >
        It was deleted, has another ID, or belongs to another project.
      </Empty>
    </>
  )
}

function ItemText({ text }: { text: string }) {
  const [form, setForm] = useState('rendered')
  const source = (
    <Text
      component="pre"
      dir="auto"
      size="sm"
      ff="monospace"
      w="100%"
      style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', margin: 0 }}
    >
      {text}
    </Text>
  )
  return (
    <Stack gap="sm" align="flex-start">
      <SegmentedControl
        size="xs"
        value={form}
        onChange={setForm}
        aria-label="Show text as"
        data={[
          { value: 'rendered', label: 'Rendered' },
          { value: 'source', label: 'Source' },
        ]}
      />
      {form === 'source' ? source : <Suspense fallback={source}>{<Markdown text={text} />}</Suspense>}
    </Stack>
  )
}
