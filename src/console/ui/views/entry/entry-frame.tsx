import { Stack } from '@mantine/core'
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
      <Stack gap="lg" w="100%" maw={360}>
        <img src={icon} width={32} height={32} alt="Callbook" style={{ flex: 'none' }} />
        <Stack component="header" gap={4}>
          <h1 dir="auto">{title}</h1>
          {text && <p className="cb-dimmed">{text}</p>}
        </Stack>
        {children}
        {footer && <footer className={classes.footer}>{footer}</footer>}
      </Stack>
    </main>
  )
}
