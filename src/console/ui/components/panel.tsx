import type { ReactNode } from 'react'

interface PanelProps {
  title?: ReactNode
  /** At the right of the title. */
  aside?: ReactNode
  children: ReactNode
}

/** A bordered part of a page with a title of its own. */
export function Panel({ title, aside, children }: PanelProps) {
  return (
    <section className="cb-panel">
      {(title || aside) && (
        <header className="cb-panel-header">
          {title && <h2>{title}</h2>}
          {aside}
        </header>
      )}
      <div className="cb-panel-body">{children}</div>
    </section>
  )
}
