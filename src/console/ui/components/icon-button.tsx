import { ActionIcon, Button, type ButtonProps } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ComponentProps, MouseEvent, ReactNode } from 'react'

interface IconButtonProps {
  icon: Icon
  /** Its name for screen readers, such as `Revoke Laptop`. */
  label: string
  /** Its tooltip, if shorter. */
  hint?: string
  size?: number
  color?: string
  isDisabled?: boolean
  /** Whether it does nothing now, but keeps the focus. */
  isOff?: boolean
  /** For a switch: whether it is on. */
  isPressed?: boolean
  onClick: (event: MouseEvent<HTMLButtonElement>) => void
  'data-remove'?: boolean
}

/** A button with an icon alone. */
export function IconButton({
  icon: Drawn,
  label,
  hint = label,
  size = 28,
  color = 'gray',
  isDisabled = false,
  isOff = false,
  isPressed,
  ...button
}: IconButtonProps) {
  return (
    <ActionIcon
      data-hint={hint}
      variant={isPressed ? 'light' : 'subtle'}
      color={color}
      size={size}
      aria-label={label}
      aria-pressed={isPressed}
      aria-disabled={isOff || undefined}
      data-disabled={isOff || undefined}
      disabled={isDisabled}
      {...button}
    >
      <Drawn size={16} />
    </ActionIcon>
  )
}

interface TextButtonProps
  extends Omit<ButtonProps, 'children' | 'leftSection'>,
    Pick<ComponentProps<'button'>, 'onClick' | 'ref' | 'type'> {
  icon?: Icon
  label: ReactNode
}

/** A button with words, and an icon before them. */
export function TextButton({ icon: Drawn, label, ...button }: TextButtonProps) {
  const size = button.size ? 14 : 16
  return (
    <Button {...(Drawn && { leftSection: <Drawn size={size} aria-hidden /> })} {...button}>
      {label}
    </Button>
  )
}
