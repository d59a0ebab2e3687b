import type { ReactNode } from 'react'

interface EmptyProps {
  /** An icon of 24 px. */
  icon?: ReactNode
  title: string
  /** What to do next, and why. */
  children?: ReactNode
  action?: ReactNode
}

/** Stands where nothing is yet and teaches what will be there. */
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
