import { Button, Textarea } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CreatedKey } from '../../../../auth/key-record.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { useFocus } from '../../components/use-focus.ts'

interface MadeKeyProps {
  made: CreatedKey
  onStored: () => void
  /** What the key is used for; a first request by default. */
  renderUse?: ((key: string) => ReactNode) | undefined
}

/** A new key in full, shown this once. */
export function MadeKey({ made, onStored, renderUse }: MadeKeyProps) {
  const field = useFocus<HTMLTextAreaElement>()
  // Going back or reloading would lose the key by accident. Closing the dialog stays on the page.
  useBlocker({
    shouldBlockFn: ({ current, next }) => next.pathname !== current.pathname,
    enableBeforeUnload: true,
  })
  return (
    <div className="cb-stack">
      <div className="cb-warning" role="status">
        <IconAlertTriangle size={16} aria-hidden />
        <p>
          This is the only time the key <strong>{made.name}</strong> is shown. Callbook stores only a hash of
          it. Copy it to where you keep your secrets.
        </p>
      </div>
      <div className="cb-made-key">
        <Textarea
          ref={field}
          label="Key"
          value={made.key}
          readOnly
          autosize
          spellCheck={false}
          classNames={{ input: 'cb-mono' }}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton value={made.key} label="Copy key" withText />
      </div>
      {renderUse?.(made.key) ?? (
        <div>
          <p className="cb-label">Try it</p>
          <CodeBlock code={commandFor(made)} label="Copy command" wrap />
        </div>
      )}
      <Button onClick={onStored}>I have stored it</Button>
    </div>
  )
}

function commandFor({ kind, scope, key }: CreatedKey): string {
  const authorization = `-H "Authorization: Bearer ${key}"`
  if (scope === 'search') {
    return `curl ${location.origin}/v1/knowledge/search ${authorization} \\
  -H "Content-Type: application/json" -d '{"query":"refunds"}'`
  }
  if (kind === 'live') return `curl ${location.origin}/v1/calls ${authorization}`
  const call = JSON.stringify({
    status: 'completed',
    duration: 42,
    summary: 'A first call.',
    transcript: [{ role: 'user', content: 'Hello?' }],
  })
  return `curl -X PUT ${location.origin}/ingest/calls/first-call ${authorization} \\
  -H "Content-Type: application/json" -d '${call}'`
}
