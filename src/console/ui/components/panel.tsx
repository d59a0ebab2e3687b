import type { ReactNode } from 'react'

interface PanelProps {
  title?: ReactNode
  /** On the right of the title. */
  aside?: ReactNode
  children: ReactNode
}

/** A bordered section of a page with its own title. */
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
