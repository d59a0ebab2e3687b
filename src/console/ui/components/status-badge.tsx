import type { ReactNode } from 'react'
import classes from './status-badge.module.css'

type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger'

interface StatusBadgeProps {
  tone: Tone
  /** An icon of 12 px; a dot without one. */
  icon?: ReactNode
  /** A word: colour alone is not enough. */
  children: ReactNode
}

/** A state as a word with an icon. */
export function StatusBadge({ tone, icon, children }: StatusBadgeProps) {
  return (
    <span className={classes.badge} data-tone={tone}>
      <span className={classes.icon} aria-hidden>
        {icon ?? <span className={classes.dot} />}
      </span>
      <span className="cb-truncate">{children}</span>
    </span>
  )
}
