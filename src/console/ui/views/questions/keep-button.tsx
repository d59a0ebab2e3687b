import { Button, type ButtonProps } from '@mantine/core'
import { lazy, type ReactNode } from 'react'
import { Guarded } from '../../components/guarded.tsx'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { useRefusal } from '../../session.ts'
import type { QuestionToKeep } from './keep-dialog.tsx'

const loadDialog = () => import('./keep-dialog.tsx')
const KeepDialog = lazy(loadDialog)

interface KeepButtonProps extends ButtonProps {
  question: QuestionToKeep
  children: ReactNode
  /** Of the dialog, and of its button. */
  title?: string
  label?: string
  onKept?: (itemId: string) => void
  'aria-label'?: string
}

/** A button that keeps a question as a golden one. */
export function KeepButton({ question, title, label, onKept, children, ...button }: KeepButtonProps) {
  const refusal = useRefusal('change')
  const shown = (
    <Button variant="default" size="compact-sm" {...button}>
      {children}
    </Button>
  )
  if (refusal !== null) return <Guarded right="change">{shown}</Guarded>
  return (
    <ButtonWithPopup kind="dialog" load={loadDialog} button={shown}>
      {(popup) => (
        <KeepDialog
          {...popup}
          question={question}
          {...(title && { title })}
          {...(label && { label })}
          {...(onKept && { onKept })}
        />
      )}
    </ButtonWithPopup>
  )
}
