import { Group, Paper, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconScissors } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { ChunkFate } from '../../../../knowledge/chunking/chunk-changes.ts'
import { asCount, counted } from '../../components/figures.ts'
import { Problem, Warning } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { type Edited, previewQuery } from './queries.ts'
import { splitSections } from './split-sections.ts'

const Markdown = lazy(() => import('./markdown.tsx'))

const pauseMs = 300
const shownMax = 200

interface PreviewPanelProps {
  project: string
  text: string
  /** The item that is being edited: then the panel says what changes. */
  edited?: Edited
}

/** What becomes of a chunk when the edited item is saved. Those that are kept are not embedded again. */
const tones = { changed: 'accent', added: 'success', kept: 'neutral' } as const satisfies Record<
  ChunkFate,
  string
>
const fates = ['changed', 'added', 'kept'] as const

const forms = [
  { value: 'chunks', label: 'Chunks' },
  { value: 'rendered', label: 'Rendered' },
]

/** A live preview of the text: the chunks that it would become, or rendered as Markdown. */
export function PreviewPanel({ project, text, edited }: PreviewPanelProps) {
  const [form, setForm] = useState('chunks')
  const [settled] = useDebouncedValue(text, pauseMs)
  return (
    <Stack gap="sm" component="section" aria-label="Preview">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="sm" fw={600}>
          Preview
        </Title>
        <SegmentedControl size="xs" value={form} onChange={setForm} aria-label="Preview as" data={forms} />
      </Group>
      {settled.trim() === '' && (
        <Text c="dimmed" size="sm">
          Agents search and receive chunks. As you write, the chunks appear here, split at headings.
        </Text>
      )}
      {form === 'chunks' ? (
        <Chunks project={project} settled={settled} edited={edited} />
      ) : (
        <Suspense fallback={<Skeleton height={96} />}>
          <Markdown text={settled} />
        </Suspense>
      )}
    </Stack>
  )
}

interface ChunksProps extends Pick<PreviewPanelProps, 'project'> {
  /** The text when typing paused. */
  settled: string
  edited: Edited | undefined
}

function Chunks({ project, settled, edited }: ChunksProps) {
  const [settledName = ''] = useDebouncedValue(edited?.name, pauseMs)
  const preview = useQuery(previewQuery(project, settled, edited && { ...edited, name: settledName }))
  const chunks = settled.trim() === '' ? [] : (preview.data?.data ?? [])
  const split = splitSections(chunks)
  const hasChanges = Boolean(preview.data?.removed) || chunks.some(({ change }) => change !== 'kept')

  return (
    <>
      {chunks.length > 0 && (
        <Text size="sm" c="dimmed" className="cb-figure">
          {counted(chunks.length, 'chunk')}
        </Text>
      )}
      {chunks.length > 0 && preview.data?.removed !== undefined && hasChanges && (
        <Text size="sm" role="status" className="cb-figure">
          {fates.map(
            (fate) => `${asCount(chunks.filter(({ change }) => change === fate).length)} ${fate} · `,
          )}
          {asCount(preview.data.removed)} removed
        </Text>
      )}
      {preview.error && <Problem error={preview.error} onRetry={() => void preview.refetch()} />}
      {settled.trim() !== '' && preview.isPending && <Skeleton height={96} />}
      {split.length > 0 && (
        <Warning icon={<IconScissors size={16} aria-hidden />}>
          <strong>Long sections are split.</strong>{' '}
          {split
            .slice(0, 5)
            .map(({ heading, chunks }) => `“${heading}” into ${chunks} chunks`)
            .join(', ')}
          {split.length > 5 && ` and ${split.length - 5} more`}. Add headings to choose where they are split.
        </Warning>
      )}
      {chunks.slice(0, shownMax).map((chunk) => (
        <ChunkCard
          key={chunk.position}
          {...chunk}
          note={hasChanges && chunk.change && <StatusBadge tone={tones[chunk.change]} label={chunk.change} />}
        />
      ))}
      {chunks.length > shownMax && (
        <Text c="dimmed" size="sm">
          and {asCount(chunks.length - shownMax)} more
        </Text>
      )}
    </>
  )
}

interface ChunkCardProps {
  position: number
  heading: string | null
  text: string
  characters: number
  overlapCharacters: number
  /** Shown beside the position, such as that the chunk has no vector yet. */
  note?: ReactNode
}

/** A chunk as search returns it; text repeated from the previous chunk is dimmed. */
export function ChunkCard({ position, heading, text, characters, overlapCharacters, note }: ChunkCardProps) {
  const points = [...text]
  const overlap = points.slice(0, overlapCharacters).join('')
  const own = points.slice(overlapCharacters).join('')
  return (
    <Paper withBorder p="sm" component="article" aria-label={`Chunk ${position + 1}`}>
      <Group justify="space-between" gap="xs" mb={6} wrap="nowrap">
        <Text size="xs" c="dimmed" truncate dir="auto" title={heading ?? undefined}>
          {heading ?? 'Before the first heading'}
        </Text>
        <Group gap={6} wrap="nowrap" style={{ flex: 'none' }}>
          {note}
          <Text size="xs" c="dimmed" className="cb-figure">
            #{position + 1} · {asCount(characters)} characters
          </Text>
        </Group>
      </Group>
      <Text size="sm" dir="auto" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {overlap && (
          <Text span inherit c="dimmed" title="Repeats the end of the previous chunk">
            {overlap}
          </Text>
        )}
        {own}
      </Text>
    </Paper>
  )
}
