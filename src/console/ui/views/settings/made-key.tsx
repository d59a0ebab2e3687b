import type { ReactNode } from 'react'
import type { CreatedKey } from '../../../../access/keys/key-record.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import classes from './settings.module.css'

interface MadeKeyProps {
  made: CreatedKey
  onStored: () => void
  /** What the key is used for; a first request by default. */
  use?: ReactNode
}

/** A new key in full, shown this once. */
export function MadeKey({ made, onStored, use }: MadeKeyProps) {
  return (
    <ShownOnce
      what="key"
      text={made.key}
      warning={
        <>
          This is the only time the key <strong>{made.name}</strong> is shown. Callbook stores only a hash of
          it. Copy it to where you keep your secrets.
        </>
      }
      onStored={onStored}
    >
      {use ?? (
        <div>
          <p className={classes.label}>Try it</p>
          <CodeBlock code={commandFor(made)} label="Copy command" />
        </div>
      )}
    </ShownOnce>
  )
}

function commandFor({ kind, scope, key }: CreatedKey): string {
  const authorization = `-H "Authorization: Bearer ${key}"`
  if (scope === 'search') {
    return `curl ${location.origin}/v1/knowledge/search \\
  ${authorization} \\
  -H "Content-Type: application/json" -d '{"query":"refunds"}'`
  }
  if (kind === 'live')
    return `curl ${location.origin}/v1/calls \\
  ${authorization}`
  const call = JSON.stringify({
    status: 'completed',
    duration: 42,
    summary: 'A first call.',
    transcript: [{ role: 'user', content: 'Hello?' }],
  })
  return `curl -X PUT ${location.origin}/ingest/calls/first-call \\
  ${authorization} \\
  -H "Content-Type: application/json" -d '${call}'`
}
