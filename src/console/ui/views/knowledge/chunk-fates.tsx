import { Text } from '@mantine/core'
import type { ChunkFate } from '../../../../knowledge/chunking/chunk-changes.ts'
import { asCount } from '../../components/figures.ts'
import { StatusBadge } from '../../components/status-badge.tsx'

const fates = ['changed', 'added', 'kept'] as const
const tones = { changed: 'accent', added: 'success', kept: 'neutral' } as const

/** What becomes of a chunk when the edited item is saved. */
export function FateBadge({ fate }: { fate: ChunkFate }) {
  return <StatusBadge tone={tones[fate]}>{fate}</StatusBadge>
}

interface ChangeSummaryProps {
  chunks: readonly { change?: ChunkFate }[]
  /** How many stored chunks have no successor. */
  removed: number
}

/** How many chunks change. Those that are kept are not embedded again. */
export function ChangeSummary({ chunks, removed }: ChangeSummaryProps) {
  const counts = fates.map(
    (fate) => `${asCount(chunks.filter(({ change }) => change === fate).length)} ${fate}`,
  )
  return (
    <Text size="sm" role="status" className="cb-figure">
      {[...counts, `${asCount(removed)} removed`].join(' · ')}
    </Text>
  )
}
