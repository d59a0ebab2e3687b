import { IconCheck, IconVolumeOff, IconX } from '@tabler/icons-react'
import { useNow } from '../../components/instant.tsx'
import { Pulse, StatusBadge } from '../../components/status-badge.tsx'
import classes from './call-list.module.css'
import { valueLabel } from './filter-labels.ts'

/** The evaluation by a rubric, verbatim. */
export function Evaluation({ value }: { value: string | null }) {
  if (value === null) {
    return (
      <span className="cb-dimmed">
        <span aria-hidden>–</span>
        <span className="cb-hidden">Not evaluated</span>
      </span>
    )
  }
  if (value === 'success') {
    return <StatusBadge tone="success" icon={IconCheck} label={valueLabel('evaluation', value)} />
  }
  if (value === 'fail') {
    return <StatusBadge tone="danger" icon={IconX} label={valueLabel('evaluation', value)} />
  }
  return <StatusBadge tone="neutral" label={valueLabel('evaluation', value)} />
}

/** The mark of a call in progress. */
export function LiveBadge() {
  return <StatusBadge tone="accent" icon={Pulse} label="Live" />
}

/** Whether the caller was engaged: a full dot or a ring, and a word for screen readers. */
export function Engagement({ isEngaged }: { isEngaged: boolean }) {
  const word = isEngaged ? 'Engaged' : 'Not engaged'
  return (
    <span className={classes.engaged} data-engaged={isEngaged || undefined} title={word}>
      <span className="cb-hidden">{word}</span>
    </span>
  )
}

const silentAfterMs = 1_800_000

/** Whether nothing was heard of a live call for half an hour. @param heardAt ISO 8601 */
export function useIsSilent(heardAt: string | null): boolean {
  const now = useNow()
  return heardAt !== null && now - Date.parse(heardAt) >= silentAfterMs
}

/** The mark of a live call, which is another one while it is silent. */
export function LiveOrSilent({ heardAt }: { heardAt: string | null }) {
  if (!useIsSilent(heardAt)) return <LiveBadge />
  return (
    <StatusBadge
      tone="neutral"
      icon={IconVolumeOff}
      label={<span title="Nothing was heard of this call for 30 minutes.">Silent</span>}
    />
  )
}
