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
  /** Whether it opens as soon as it is shown. */
  isOpenAtFirst?: boolean
  onOpen?: (isOpen: boolean) => void
  /** Renders the target with its menu, popover or dialog. */
  children: (popup: PopupProps) => ReactNode
}

/** A button that opens a menu, popover or dialog. Its code is loaded on hover, focus or click, to keep pages small. */
export function ButtonWithPopup({
  kind,
  load,
  button,
  isOpenAtFirst = false,
  onOpen,
  children,
}: ButtonWithPopupProps) {
  const [isLoaded, setIsLoaded] = useState(false)
  const [opened, setState] = useState(false)
  const setOpened = (isOpen: boolean) => {
    setState(isOpen)
    onOpen?.(isOpen)
  }
  const shown = useRef<HTMLElement>(null)
  const ref = useMergedRef(shown, button.props.ref ?? null)
  const preload = () => void load().catch(() => undefined)
  const open = () => void load().then(() => setIsLoaded(true), sayNotLoaded)
  const openAtFirst = useEffectEvent(() => isOpenAtFirst && open())
  useEffect(() => {
    openAtFirst()
  }, [])
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
    onClick: open,
    onFocus: preload,
    onPointerEnter: preload,
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
