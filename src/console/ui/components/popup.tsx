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

/** What a menu, popover or dialog needs. */
export interface PopupProps {
  opened: boolean
  onChange: (opened: boolean) => void
  /** The button. A menu adds what opens it; the button of a dialog opens and closes it already. */
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
  /** Imports the lazy component that `children` renders. */
  load: () => Promise<unknown>
  button: ReactElement<ButtonProps>
  /** Renders the target with its menu, popover or dialog. */
  children: (popup: PopupProps) => ReactNode
}

/** A button that opens a menu, popover or dialog. Its code is loaded on hover, focus or click, to keep pages small. */
export function ButtonWithPopup({ kind, load, button, children }: ButtonWithPopupProps) {
  const [isLoaded, setIsLoaded] = useState(false)
  const [opened, setOpened] = useState(false)
  const shown = useRef<HTMLElement>(null)
  const ref = useMergedRef(shown, button.props.ref ?? null)
  const soon = () => void load().catch(() => undefined)
  const target = cloneElement(button, {
    ref,
    ...(kind === 'dialog' && {
      'aria-haspopup': kind,
      'aria-expanded': opened,
      onClick: () => setOpened(!opened),
    }),
  })
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
      {children({ opened, onChange: setOpened, target })}
      <Once
        // On closing, the focus returns to the element that had it on opening.
        run={() => {
          shown.current?.focus()
          setOpened(true)
        }}
      />
    </Suspense>
  )
}

/** Runs a function once, after its siblings are rendered. */
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
