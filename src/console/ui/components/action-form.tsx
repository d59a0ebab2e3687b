import { Button, Group } from '@mantine/core'
import type { ComponentProps, FormEvent, ReactNode } from 'react'

interface ActionFormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  /** The button's label. */
  label: ReactNode
  isReady?: boolean
  isPending: boolean
  /** Makes the button red. */
  isDanger?: boolean
  /** Makes the button as wide as the form. */
  isWide?: boolean
  onSubmit: () => void
  /** Shows a Cancel button. */
  onCancel?: (() => void) | undefined
  cancelLabel?: string
}

/** A form with its fields above the button that sends it. Enter does nothing while the button is off. */
export function ActionForm({
  label,
  isReady = true,
  isPending,
  isDanger = false,
  isWide = false,
  onSubmit,
  onCancel,
  cancelLabel = 'Cancel',
  children,
  ...form
}: ActionFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady && !isPending) onSubmit()
  }
  return (
    <form onSubmit={submit} className="cb-stack" {...form}>
      {children}
      <Group justify="flex-end" gap="xs">
        {onCancel && (
          <Button variant="default" onClick={onCancel}>
            {cancelLabel}
          </Button>
        )}
        <Button
          type="submit"
          {...(isDanger && { color: 'red' })}
          disabled={!isReady}
          loading={isPending}
          fullWidth={isWide}
        >
          {label}
        </Button>
      </Group>
    </form>
  )
}
