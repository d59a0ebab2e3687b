import { Tooltip } from '@mantine/core'
import { cloneElement, type MouseEvent, type ReactElement } from 'react'
import type { Right } from '../../../identity.ts'
import { useRefusal } from '../session.ts'

interface ControlProps {
  onClick?: (event: MouseEvent) => void
  'data-disabled'?: boolean
  'aria-disabled'?: boolean
  'aria-description'?: string
}

interface GuardedProps {
  /** The right that the control needs. */
  right: Right
  /** The tooltip of a control without words. */
  label?: string
  children: ReactElement<ControlProps>
}

/** A button or link that does nothing for a person who lacks the right. It keeps taking the focus, and says why. */
export function Guarded({ right, label, children }: GuardedProps) {
  const refusal = useRefusal(right)
  if (refusal === null) return label ? <Tooltip label={label}>{children}</Tooltip> : children
  return (
    <Tooltip label={refusal} events={{ hover: true, focus: true, touch: true }} multiline maw={260}>
      {cloneElement(children, {
        'data-disabled': true,
        'aria-disabled': true,
        'aria-description': refusal,
        onClick: (event) => event.preventDefault(),
      })}
    </Tooltip>
  )
}
