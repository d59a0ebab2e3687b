import { IconBan, IconClock, IconClockX } from '@tabler/icons-react'
import type { KeyRecord } from '../../../../access/keys/key-record.ts'
import { Instant } from '../../components/instant.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { stateOf } from './key-queries.ts'

interface KeyStateProps {
  row: KeyRecord
  now: number
  /** Whether another key replaces it. */
  isReplaced: boolean
}

/** Whether a key is revoked, expired or being replaced; nothing for a key that simply works. */
export function KeyState({ row, now, isReplaced }: KeyStateProps) {
  const state = stateOf(row, now)
  if (state === 'revoked') {
    return (
      <StatusBadge tone="neutral" icon={<IconBan size={12} />}>
        Revoked
      </StatusBadge>
    )
  }
  if (state === 'expired') {
    return (
      <StatusBadge tone="warning" icon={<IconClockX size={12} />}>
        Expired
      </StatusBadge>
    )
  }
  if (!isReplaced || row.expiresAt === null) return null
  return (
    <StatusBadge tone="warning" icon={<IconClock size={12} />}>
      <span>
        Expires <Instant at={row.expiresAt} as="coming" />
      </span>
    </StatusBadge>
  )
}
