import { Modal, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ActionForm } from './api-form.tsx'
import type { AnyDialog, Dialog } from './dialog.ts'
import { Problem } from './problem.tsx'

const widthPx = 440
const selectable = { userSelect: 'all' } as const

interface DialogHostProps {
  dialog: AnyDialog | null
  onClose: () => void
}

/** The open dialog. One modal for all, so that what follows another dialog returns the focus to where that was opened. */
export default function DialogHost({ dialog, onClose }: DialogHostProps) {
  const last = useRef<DialogHostProps['dialog']>(null)
  // The title stays while it closes.
  if (dialog) last.current = dialog
  const {
    title,
    size = widthPx,
    isLocked = false,
    isKept = isLocked,
  } = { title: '', ...last.current } as Partial<Dialog>
  // Closed at first: a modal that opens knows what had the focus.
  const [isMounted, setMounted] = useState(false)
  useEffect(() => setMounted(true), [])
  return (
    <Modal
      opened={isMounted && dialog !== null}
      onClose={onClose}
      title={title}
      size={size}
      closeOnEscape={!isLocked}
      closeOnClickOutside={!isKept}
      withCloseButton={!isLocked}
    >
      {dialog && ('run' in dialog ? <Confirmation {...dialog} onClose={onClose} /> : dialog.content(onClose))}
    </Modal>
  )
}

function Confirmation({
  text,
  word,
  verb,
  isDanger = true,
  run,
  onClose,
}: Extract<AnyDialog, { verb: string }> & { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const { mutate, isPending, error } = useMutation({ mutationFn: run, onSuccess: onClose, gcTime: 0 })
  return (
    <ActionForm
      label={verb}
      isReady={word === undefined || typed.trim() === word}
      isPending={isPending}
      isDanger={isDanger}
      onSubmit={mutate}
      onCancel={onClose}
    >
      <div>{text}</div>
      {word !== undefined && (
        <TextInput
          label={
            <>
              Type{' '}
              <Text span px={4} bdrs="xs" bg="var(--cb-neutral-soft)" className="cb-mono" style={selectable}>
                {word}
              </Text>{' '}
              to confirm
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
