import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './status-badge.module.css'

interface StatusBadgeProps {
  tone: 'neutral' | 'accent' | 'success' | 'warning' | 'danger'
  /** A dot without one. */
  icon?: Icon | typeof Pulse | undefined
  /** A word: colour alone is not enough. */
  label: ReactNode
}

const loud = (tone: string) => ({ background: `var(--cb-${tone}-soft)`, color: `var(--cb-${tone}-text)` })
const tones = {
  neutral: { background: 'var(--cb-neutral-soft)' },
  success: {},
  accent: loud('accent'),
  warning: loud('warning'),
  danger: loud('danger'),
}

/** A state as a word with an icon. */
export function StatusBadge({ tone, icon: Drawn, label }: StatusBadgeProps) {
  return (
    <span className={classes.badge} data-tone={tone} style={tones[tone]}>
      <span className={classes.icon} aria-hidden>
        {Drawn ? (
          <Drawn size={12} stroke={2.5} />
        ) : (
          <span className={classes.dot} style={{ background: `var(--cb-${tone})` }} />
        )}
      </span>
      <span className="cb-truncate">{label}</span>
    </span>
  )
}

/** An icon for something in progress. */
export function Pulse(_: { size: number; stroke: number }) {
  return <span className="cb-pulse" />
}
