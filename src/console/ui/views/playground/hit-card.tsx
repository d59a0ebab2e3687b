import { Group, Paper, Text } from '@mantine/core'
import type { ExplainedHit } from '../../../../knowledge/search/explain.ts'
import { PageLink } from '../../components/links.tsx'

interface HitCardProps {
  project: string
  rank: number
  hit: ExplainedHit
}

/** A passage as an agent receives it, with its rank in the keyword and the vector search. */
export function HitCard({ project, rank, hit }: HitCardProps) {
  return (
    <Paper withBorder p="sm" component="article" aria-label={`Passage ${rank}`}>
      <Group justify="space-between" gap="xs" mb={6} align="flex-start">
        <div style={{ minWidth: 0, flex: '1 1 240px' }}>
          <Group gap={8} wrap="nowrap">
            <Text fw={600} className="cb-figure">
              {rank}
            </Text>
            <PageLink
              to="/p/$project/knowledge/$item"
              params={{ project, item: hit.itemId }}
              fw={500}
              truncate
              dir="auto"
            >
              {hit.name}
            </PageLink>
          </Group>
          {hit.heading && hit.heading !== hit.name && (
            <Text size="xs" c="dimmed" truncate dir="auto" title={hit.heading}>
              {hit.heading}
            </Text>
          )}
        </div>
        <Group gap={12}>
          {hit.keywordRank !== null && <Source list="keyword" rank={hit.keywordRank} />}
          {hit.vectorRank !== null && <Source list="vector" rank={hit.vectorRank} />}
        </Group>
      </Group>
      {hit.terms.length > 0 && (
        <Text size="xs" c="dimmed" mb={4} style={{ overflowWrap: 'anywhere' }}>
          Matched words: <bdi>{hit.terms.join(', ')}</bdi>
        </Text>
      )}
      <Text size="sm" dir="auto" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {hit.text}
      </Text>
    </Paper>
  )
}

function Source({ list, rank }: { list: 'keyword' | 'vector'; rank: number }) {
  return (
    <Text size="xs" c="dimmed" className="cb-figure">
      {list} #{rank}
    </Text>
  )
}
