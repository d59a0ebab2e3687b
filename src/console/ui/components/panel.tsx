import type { ReactNode } from 'react'
import classes from './panel.module.css'

interface PanelProps {
  title?: ReactNode
  /** On the right of the title. */
  aside?: ReactNode
  children: ReactNode
}

/** A bordered section of a page with its own title. */
export function Panel({ title, aside, children }: PanelProps) {
  return (
    <section className={classes.panel}>
      {(title || aside) && (
        <header className={classes.header}>
          {title && <h2 dir="auto">{title}</h2>}
          {aside}
        </header>
      )}
      <div className={classes.body}>{children}</div>
    </section>
  )
}
