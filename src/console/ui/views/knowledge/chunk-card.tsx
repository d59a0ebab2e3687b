import { Group, Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { asCount } from '../../components/figures.ts'

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
