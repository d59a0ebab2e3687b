import { IconClock, IconKey } from '@tabler/icons-react'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { Instant } from '../../components/instant.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'

/** When the last event came, or what the source is waiting for. */
export function SourceState({
  source: { lastEventAt, hasSecret },
}: {
  source: Pick<SourceRecord, 'lastEventAt' | 'hasSecret'>
}) {
  if (lastEventAt) return <Instant at={lastEventAt} />
  if (!hasSecret) {
    return (
      <StatusBadge tone="warning" icon={<IconKey size={12} />}>
        Needs a secret
      </StatusBadge>
    )
  }
  return (
    <StatusBadge tone="neutral" icon={<IconClock size={12} />}>
      Waiting for the first event
    </StatusBadge>
  )
}
