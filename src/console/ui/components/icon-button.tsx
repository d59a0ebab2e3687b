import { ActionIcon } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'

interface IconButtonProps {
  icon: Icon
  /** Its name for screen readers, such as `Revoke Laptop`. */
  label: string
  /** Its tooltip, if shorter. */
  hint?: string
  size?: number
  color?: string
  isDisabled?: boolean
  /** For a switch: whether it is on. */
  isPressed?: boolean
  onClick: () => void
}

/** A button with an icon alone. */
export function IconButton({
  icon: Drawn,
  label,
  hint = label,
  size = 28,
  color = 'gray',
  isDisabled = false,
  isPressed,
  onClick,
}: IconButtonProps) {
  return (
    <ActionIcon
      data-hint={hint}
      variant={isPressed ? 'light' : 'subtle'}
      color={color}
      size={size}
      aria-label={label}
      aria-pressed={isPressed}
      disabled={isDisabled}
      onClick={onClick}
    >
      <Drawn size={16} />
    </ActionIcon>
  )
}
