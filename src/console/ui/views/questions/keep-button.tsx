import { Button, type ButtonProps } from '@mantine/core'
import { type ComponentProps, lazy, type ReactNode, Suspense } from 'react'
import { useShow } from '../../components/dialogs.tsx'
import { Guarded } from '../../components/guarded.tsx'

const KeepForm = lazy(() => import('./keep-form.tsx'))

interface KeepOptions extends Omit<ComponentProps<typeof KeepForm>, 'onClose'> {
  /** The title of the dialog. */
  title?: string
}

/** Opens the dialog that keeps a question as a golden one. */
export function useKeep() {
  const show = useShow()
  return ({ title = 'Keep as a golden question', ...form }: KeepOptions) =>
    show({
      title,
      size: 520,
      content: (close) => (
        <Suspense>
          <KeepForm {...form} onClose={close} />
        </Suspense>
      ),
    })
}

interface KeepButtonProps extends ButtonProps, KeepOptions {
  children: ReactNode
}

/** A button that keeps a question as a golden one. */
export function KeepButton({ question, title, label, onKept, children, ...button }: KeepButtonProps) {
  const keep = useKeep()
  const options = { question, ...(title && { title }), ...(label && { label }), ...(onKept && { onKept }) }
  return (
    <Guarded right="change">
      <Button variant="default" size="compact-sm" {...button} onClick={() => keep(options)}>
        {children}
      </Button>
    </Guarded>
  )
}
