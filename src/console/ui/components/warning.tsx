import type { ReactNode } from 'react'
import classes from './warning.module.css'

interface WarningProps {
  icon?: ReactNode
  children: ReactNode
}

/** What a person should know before they go on. */
export function Warning({ icon, children }: WarningProps) {
  return (
    <div className={classes.warning} role="status">
      {icon}
      <div>{children}</div>
    </div>
  )
}
