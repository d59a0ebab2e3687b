import { IconAlertTriangle, IconBell, IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { AlertState as State } from '../../../../alerts/schemas.ts'
import { StatusBadge } from '../../components/status-badge.tsx'
import { stateWords } from './alert-words.ts'

const looks: Record<State, { tone: 'success' | 'warning' | 'danger' | 'neutral'; icon?: ReactNode }> = {
  ok: { tone: 'success', icon: <IconCheck size={12} stroke={2.5} /> },
  warning: { tone: 'warning', icon: <IconAlertTriangle size={12} /> },
  alert: { tone: 'danger', icon: <IconBell size={12} /> },
  no_data: { tone: 'neutral' },
}

/** The state of an alert. */
export function AlertState({ state }: { state: State }) {
  return <StatusBadge {...looks[state]}>{stateWords[state]}</StatusBadge>
}
