import { IconClock, IconKey } from '@tabler/icons-react'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { Instant } from '../../components/instant.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { sentBy } from './source-queries.ts'

/** When the last event came, or what the source is waiting for. */
export function SourceState({
  source: { platform, lastEventAt, hasSecret },
}: {
  source: Pick<SourceRecord, 'platform' | 'lastEventAt' | 'hasSecret'>
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
      Waiting for the first {sentBy(platform)}
    </StatusBadge>
  )
}
