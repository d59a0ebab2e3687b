import { ActionIcon } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'

interface IconButtonProps {
  icon: Icon
  /** Its name for screen readers, such as `Revoke Laptop`. */
  label: string
  /** Its tooltip, if shorter. */
  hint?: string
  size?: number
  onClick: () => void
}

/** A button with an icon alone. */
export function IconButton({ icon: Drawn, label, hint = label, size = 28, onClick }: IconButtonProps) {
  return (
    <ActionIcon
      data-hint={hint}
      variant="subtle"
      color="gray"
      size={size}
      aria-label={label}
      onClick={onClick}
    >
      <Drawn size={16} />
    </ActionIcon>
  )
}
