import { Button, Group, SegmentedControl, Skeleton, Stack, Tabs, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { ApiProblem, api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Empty } from '../../components/empty.tsx'
import { asBytes, asCount } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageButton, PageLink } from '../../components/links.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { knowledgeKeys } from '../../query-keys.ts'
import { useRefusal } from '../../session.ts'
import { AskForm } from '../playground/ask-form.tsx'
import { ChunkCard } from './chunk-card.tsx'
import { EditForm } from './edit-form.tsx'
import { IndexStatus } from './index-status.tsx'
import { WriterName } from './item-columns.tsx'
import { itemSearch } from './item-search.ts'
import { chunksQuery, itemQuery } from './queries.ts'

const route = getRouteApi('/p/$project/knowledge/$item')
const Markdown = lazy(() => import('./markdown.tsx'))

/** One item: its text, its stored chunks, and a form to ask it a question. */
export function ItemView() {
  const { project, item: id } = route.useParams()
  const { tab } = route.useSearch()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const item = useQuery(itemQuery(project, id))
  const chunks = useQuery(chunksQuery(project, id))
  const mayChange = useRefusal('change') === null
  const [isDeleting, setDeleting] = useState(false)
  const remove = async () => {
    await unwrap(api.projects({ project }).knowledge({ id }).delete())
    queryClient.removeQueries({ queryKey: knowledgeKeys.item(project, id) })
    await queryClient.invalidateQueries({ queryKey: knowledgeKeys.items(project) })
    notifications.show({ message: 'Item deleted, with its chunks and vectors.' })
    // Going back skips the deleted item.
    await navigate({ to: '/p/$project/knowledge', params: { project }, replace: true })
  }

  const showTab = (tab: string | null) =>
    void navigate({ to: '.', search: (search) => ({ ...search, ...itemSearch({ tab }) }), replace: true })

  if (item.error instanceof ApiProblem && item.error.status === 404 && !item.data)
    return <NoSuchItem project={project} />
  if (item.error && !item.data) return <Problem error={item.error} onRetry={() => void item.refetch()} />
  return (
    <Stack gap="md">
      <PageHeader
        title={item.data?.name ?? 'Item'}
        description={
          <>
            {item.data?.description && `${item.data.description} · `}
            <PageLink to="/p/$project/knowledge" params={{ project }}>
              All knowledge
            </PageLink>
          </>
        }
        action={
          <Guarded right="delete">
            <Button
              variant="default"
              leftSection={<IconTrash size={16} />}
              onClick={() => setDeleting(true)}
              disabled={!item.data}
            >
              Delete
            </Button>
          </Guarded>
        }
      />
      <Group gap="md" mih={24}>
        <Group gap={4}>
          <Mono>{id}</Mono>
          <CopyButton value={id} label="Copy id" />
        </Group>
        {item.data && <IndexStatus status={item.data.status} chunks={chunks.data?.data.length ?? 0} />}
        {item.data && (
          <Text size="sm" c="dimmed">
            Updated <Instant at={item.data.updatedAt} /> by <WriterName writer={item.data.updatedBy} /> ·
            Created <Instant at={item.data.createdAt} /> · {asBytes(item.data.textBytes)}
          </Text>
        )}
      </Group>
      <Tabs
        value={tab === 'edit' && !mayChange ? 'text' : (tab ?? 'text')}
        onChange={showTab}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="text">Text</Tabs.Tab>
          {mayChange && <Tabs.Tab value="edit">Edit</Tabs.Tab>}
          <Tabs.Tab value="chunks">
            Chunks {chunks.data && <span className="cb-tab-count">{asCount(chunks.data.data.length)}</span>}
          </Tabs.Tab>
          <Tabs.Tab value="ask">Ask a question</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="text">
          {item.data ? <ItemText text={item.data.text} /> : <Skeleton height={320} />}
        </Tabs.Panel>
        <Tabs.Panel value="edit">
          {item.data && mayChange ? (
            <EditForm key={id} project={project} item={item.data} onSaved={() => showTab('text')} />
          ) : (
            <Skeleton height={320} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="chunks">
          {chunks.error && <Problem error={chunks.error} onRetry={() => void chunks.refetch()} />}
          {chunks.isPending && <Skeleton height={320} />}
          <Stack gap="sm">
            {chunks.data?.data.map((chunk) => (
              <ChunkCard
                key={chunk.position}
                {...chunk}
                note={!chunk.isEmbedded && <StatusBadge tone="warning">Not embedded yet</StatusBadge>}
              />
            ))}
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="ask">
          <AskForm project={project} initial={{ query: '' }} itemIds={[id]} />
        </Tabs.Panel>
      </Tabs>
      {item.data && (
        <ConfirmDialog
          opened={isDeleting}
          onClose={() => setDeleting(false)}
          title={`Delete “${item.data.name}”?`}
          confirmLabel="Delete item"
          onConfirm={remove}
        >
          This deletes the item’s text, chunks and vectors for good. Agents stop finding it at once. This
          cannot be undone.
        </ConfirmDialog>
      )}
    </Stack>
  )
}

function NoSuchItem({ project }: { project: string }) {
  return (
    <>
      <PageHeader title="Item" />
      <Empty
        title="Item not found"
        action={
          <PageButton variant="default" to="/p/$project/knowledge" params={{ project }}>
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
