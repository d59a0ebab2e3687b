import { Button } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ComponentProps, FormEvent, ReactNode } from 'react'
import { isAboutFields } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'
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

interface EntryFormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  /** The button's, which is as wide as the form. */
  label: string
  /** The fields that say what is wrong with them. */
  names: readonly string[]
  isReady?: boolean
  isPending: boolean
  error: unknown
  onSubmit: () => void
}

/** A form before sign-in. */
export function EntryForm({
  label,
  names,
  isReady = true,
  isPending,
  error,
  onSubmit,
  children,
  ...form
}: EntryFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady && !isPending) onSubmit()
  }
  return (
    <form onSubmit={submit} className="cb-stack" noValidate {...form}>
      {children}
      {Boolean(error) && !isAboutFields(error, names) && <Problem error={error} />}
      <Button type="submit" disabled={!isReady} loading={isPending} fullWidth>
        {label}
      </Button>
    </form>
  )
}
