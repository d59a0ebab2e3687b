import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { Problem } from './problem.tsx'

interface ConfirmDialogProps {
  opened: boolean
  onClose: () => void
  /** A question, such as `Delete this call?` */
  title: string
  /** What goes, and whether it can be undone. */
  children: ReactNode
  /** What has to be typed; without it one click is enough. */
  word?: string
  /** The verb of the button, such as `Delete call`. */
  confirmLabel: string
  /** Does it. The dialog waits for it, closes when it is done and shows what it throws. */
  onConfirm: () => Promise<unknown>
}

/** Asks before something that cannot be undone. Without a `key`: a new dialog cannot give the focus back. */
export function ConfirmDialog({ opened, onClose, title, ...content }: ConfirmDialogProps) {
  const asked = useRef(title)
  // While it closes, whom it was about may be forgotten already.
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
  onConfirm,
}: Omit<ConfirmDialogProps, 'opened' | 'title'>) {
  const [typed, setTyped] = useState('')
  const { mutate, isPending, error } = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  const isConfirmed = word === undefined || typed.trim() === word
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isConfirmed && !isPending) mutate()
  }
  return (
    <form onSubmit={submit} className="cb-stack">
      <div>{children}</div>
      {word !== undefined && (
        <TextInput
          label={
            <>
              Type <span className="cb-mono cb-word">{word}</span> to confirm
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
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" color="red" disabled={!isConfirmed} loading={isPending}>
          {confirmLabel}
        </Button>
      </Group>
    </form>
  )
}
