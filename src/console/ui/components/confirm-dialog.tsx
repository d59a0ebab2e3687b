import { Modal, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { ActionForm } from './action-form.tsx'
import classes from './confirm-dialog.module.css'
import { Problem } from './problem.tsx'

interface ConfirmDialogProps {
  opened: boolean
  onClose: () => void
  /** A question, such as `Delete this call?` */
  title: string
  /** What will be lost, and whether it can be undone. */
  children: ReactNode
  /** A word to type; without one, a click is enough. */
  word?: string
  /** The verb of the button, such as `Delete call`. */
  confirmLabel: string
  /** False for an action that can be undone; the button is not red then. */
  isDanger?: boolean
  /** The dialog awaits this, closes on success and shows any error. */
  onConfirm: () => Promise<unknown>
}

/** Asks before something that cannot be undone. Give it no `key`: a remounted dialog cannot return the focus. */
export function ConfirmDialog({ opened, onClose, title, ...content }: ConfirmDialogProps) {
  const asked = useRef(title)
  // The caller may already have cleared its subject while the dialog closes.
  if (opened) asked.current = title
  return (
    <Modal opened={opened} onClose={onClose} title={asked.current} size={440}>
      {opened && <Confirmation onClose={onClose} {...content} />}
    </Modal>
  )
}

function Confirmation({
  onClose,
  children,
  word,
  confirmLabel,
  isDanger = true,
  onConfirm,
}: Omit<ConfirmDialogProps, 'opened' | 'title'>) {
  const [typed, setTyped] = useState('')
  const { mutate, isPending, error } = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  return (
    <ActionForm
      label={confirmLabel}
      isReady={word === undefined || typed.trim() === word}
      isPending={isPending}
      isDanger={isDanger}
      onSubmit={mutate}
      onCancel={onClose}
    >
      <div>{children}</div>
      {word !== undefined && (
        <TextInput
          label={
            <>
              Type <span className={`cb-mono ${classes.word}`}>{word}</span> to confirm
            </>
          }
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      )}
      {error && <Problem error={error} />}
    </ActionForm>
  )
}
