import type { ReactNode } from 'react'
import classes from './problem.module.css'

interface WarningProps {
  icon?: ReactNode
  /** `alert` is said at once. */
  role?: 'status' | 'alert'
  children: ReactNode
}

/** What a person should know before they go on. */
export function Warning({ icon, role = 'status', children }: WarningProps) {
  return (
    <div className={classes.warning} role={role}>
      {icon}
      <div>{children}</div>
    </div>
  )
}
