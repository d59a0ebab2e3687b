import { useMergedRef } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import {
  cloneElement,
  type ReactElement,
  type ReactNode,
  type RefAttributes,
  Suspense,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react'

/** What a menu or popover needs. `target` is its button, which does not open it by itself. */
export interface PopupProps {
  opened: boolean
  onChange: (opened: boolean) => void
  target: ReactElement<ButtonProps>
}

interface ButtonProps extends RefAttributes<HTMLElement> {
  'aria-haspopup'?: 'menu' | 'dialog'
  'aria-expanded'?: boolean
  onClick?: () => void
  onFocus?: () => void
  onPointerEnter?: () => void
}

interface ButtonWithPopupProps {
  kind: 'menu' | 'dialog'
  /** Imports the menu or popover. */
  load: () => Promise<unknown>
  button: ReactElement<ButtonProps>
  /** Renders the menu or popover, as a lazy component. */
  children: (popup: PopupProps) => ReactNode
}

/**
 * A button with a menu or popover, whose code is loaded when somebody is about to use it. Menus and popovers take longer
 * to load and to render than the rest of most pages.
 */
export function ButtonWithPopup({ kind, load, button, children }: ButtonWithPopupProps) {
  const [isLoaded, setIsLoaded] = useState(false)
  const [opened, setOpened] = useState(false)
  const shown = useRef<HTMLElement>(null)
  const ref = useMergedRef(shown, button.props.ref ?? null)
  const soon = () => void load().catch(() => undefined)
  const closed = cloneElement(button, {
    ref,
    'aria-haspopup': kind,
    'aria-expanded': false,
    onClick: () => void load().then(() => setIsLoaded(true), sayNotLoaded),
    onFocus: soon,
    onPointerEnter: soon,
  })
  if (!isLoaded) return closed
  return (
    <Suspense fallback={closed}>
      {children({ opened, onChange: setOpened, target: cloneElement(button, { ref }) })}
      <Once
        // The menu takes the focus from this button, and gives it back.
        run={() => {
          shown.current?.focus()
          setOpened(true)
        }}
      />
    </Suspense>
  )
}

/** Runs a function once what is beside it is rendered. */
function Once({ run }: { run: () => void }) {
  const start = useEffectEvent(run)
  useEffect(() => start(), [])
  return null
}

function sayNotLoaded(): void {
  notifications.show({
    color: 'red',
    title: 'This could not be loaded',
    message: 'Callbook is not responding. Try again.',
  })
}
