import { cloneElement, type MouseEvent, type ReactElement } from 'react'
import type { Right } from '../../../identity.ts'
import { useRefusal } from '../session.ts'

interface ControlProps {
  onClick?: (event: MouseEvent) => void
  'data-disabled'?: boolean
  'data-hint'?: string
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
  if (refusal === null) return label ? cloneElement(children, { 'data-hint': label }) : children
  return cloneElement(children, {
    'data-disabled': true,
    'data-hint': refusal,
    'aria-disabled': true,
    'aria-description': refusal,
    onClick: (event) => event.preventDefault(),
  })
}
