import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import icon from '../../icon.svg'
import classes from './entry.module.css'

interface EntryFrameProps {
  title: string
  /** A sentence or two. */
  text?: ReactNode
  children: ReactNode
  /** Below the form, for people who cannot use it. */
  footer?: ReactNode
}

/** The frame of a form shown before sign-in. */
export function EntryFrame({ title, text, children, footer }: EntryFrameProps) {
  useDocumentTitle(`${title} · Callbook`)
  return (
    <main className={classes.entry}>
      <div className={classes.column}>
        <img src={icon} width={32} height={32} alt="Callbook" />
        <header className={classes.header}>
          <h1 dir="auto">{title}</h1>
          {text && <p className="cb-dimmed">{text}</p>}
        </header>
        {children}
        {footer && <footer className={classes.footer}>{footer}</footer>}
      </div>
    </main>
  )
}
