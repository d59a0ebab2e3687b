import { useWindowEvent } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useLocation, useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import {
  createContext,
  lazy,
  type ReactNode,
  Suspense,
  use,
  useCallback,
  useEffect,
  useEffectEvent,
  useState,
} from 'react'
import { type Act, perform } from './acts.ts'
import type { AnyDialog, Dialog, Question } from './dialog.ts'
import { loadLater } from './load-later.ts'

// Loaded for the first dialog, since it needs the overlays.
const DialogHost = lazy(() => loadLater(() => import('./dialog-host.tsx'), 0))

const Show = createContext<(dialog: AnyDialog) => void>(() => undefined)

/** Opens a dialog, in place of one that is open. When it closes, the focus returns to where it was. */
export function useShow(): (dialog: Dialog) => void {
  return use(Show)
}

/** Asks before an act. The dialog closes when it is done, and shows why it is not. */
export function useConfirm() {
  const show = use(Show)
  const client = useQueryClient()
  return <Output,>({ send, changes, says, done, ...question }: Question & Act<void, Output>) =>
    show({ ...question, run: () => perform(client, { send, changes, says, done }, undefined) })
}

/** Around the pages of a project: where their dialogs are. A dialog belongs to the page that opened it. */
export function Dialogs({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<{ dialog: AnyDialog; on: string } | null>(null)
  const [isNeeded, setNeeded] = useState(false)
  const router = useRouter()
  const path = useLocation({ select: ({ pathname }) => pathname })
  const show = useCallback(
    (dialog: AnyDialog) => {
      setNeeded(true)
      setShown({ dialog, on: router.latestLocation.pathname })
    },
    [router],
  )
  const close = () => setShown((now) => (now === shown ? null : now))
  return (
    <Show value={show}>
      {children}
      <Suspense fallback={<Escape onEscape={close} />}>
        {isNeeded && <DialogHost dialog={shown?.on === path ? shown.dialog : null} onClose={close} />}
      </Suspense>
    </Show>
  )
}

/** Closes a dialog that is still loading. */
function Escape({ onEscape }: { onEscape: () => void }) {
  useWindowEvent('keydown', ({ key }) => key === 'Escape' && onEscape())
  return null
}

/** Opens the dialog of a page that is reached by a link with `?create=…`, and takes that out of the address. */
export function useLinkToCreate(what: 'source' | 'key' | 'webhook', open: () => void): void {
  const isLinked = useSearch({ strict: false }).create === what
  const navigate = useNavigate()
  const openOnce = useEffectEvent(() => {
    void navigate({ to: '.', search: {}, replace: true })
    open()
  })
  useEffect(() => {
    if (isLinked) openOnce()
  }, [isLinked])
}
