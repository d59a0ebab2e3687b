import { Button, Textarea } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useBlocker } from '@tanstack/react-router'
import { CopyButton } from '../../components/copy-button.tsx'
import { useFocus } from '../../components/use-focus.ts'

interface WebhookSecretProps {
  secret: string
  /** What happens to the secret before it, in a sentence. */
  note?: string
  onStored: () => void
}

/** A webhook's new secret, shown this once. */
export function WebhookSecret({ secret, note, onStored }: WebhookSecretProps) {
  const field = useFocus<HTMLTextAreaElement>()
  // Going back or reloading would lose the secret by accident. Closing the dialog stays on the page.
  useBlocker({
    shouldBlockFn: ({ current, next }) => next.pathname !== current.pathname,
    enableBeforeUnload: true,
  })
  return (
    <div className="cb-stack">
      <div className="cb-warning" role="status">
        <IconAlertTriangle size={16} aria-hidden />
        <p>This is the only time the secret is shown. Your endpoint verifies each event with it. {note}</p>
      </div>
      <div className="cb-made-key">
        <Textarea
          ref={field}
          label="Secret"
          value={secret}
          readOnly
          autosize
          spellCheck={false}
          classNames={{ input: 'cb-mono' }}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton value={secret} label="Copy secret" withText />
      </div>
      <p className="cb-field-hint">
        Events are signed as Standard Webhooks.{' '}
        <a href="/docs/guide/webhooks#verify-it" target="_blank" rel="noreferrer">
          How to verify them
        </a>
      </p>
      <Button onClick={onStored}>I have stored it</Button>
    </div>
  )
}
