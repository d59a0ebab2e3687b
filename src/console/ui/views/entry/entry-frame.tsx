import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Logo } from '../../components/logo.tsx'

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
    <main className="cb-entry">
      <div className="cb-entry-column">
        <Logo size={32} />
        <header className="cb-entry-header">
          <h1>{title}</h1>
          {text && <p className="cb-dimmed">{text}</p>}
        </header>
        {children}
        {footer && <footer className="cb-entry-footer">{footer}</footer>}
      </div>
    </main>
  )
}
