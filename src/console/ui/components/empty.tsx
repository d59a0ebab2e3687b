import type { ReactNode } from 'react'

interface EmptyProps {
  /** An icon of 24 px. */
  icon?: ReactNode
  title: string
  /** What to do next, and why. */
  children?: ReactNode
  action?: ReactNode
}

/** Takes the place of missing content and says how to get some. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className="cb-empty">
      {icon && (
        <div className="cb-empty-icon" aria-hidden>
          {icon}
        </div>
      )}
      <h2>{title}</h2>
      {children && <div className="cb-empty-text">{children}</div>}
      {action}
    </div>
  )
}
