import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { read } from '../../api.ts'
import { CodeBlock } from '../../components/code.tsx'
import { useShow } from '../../components/dialogs.tsx'
import { useProject } from '../../session.ts'
import { newKeyDialog } from '../settings/keys.ts'

const NewKey = lazy(async () => ({ default: (await import('../settings/new-key.tsx')).NewKey }))

interface FirstKey {
  /** The key that was made on this page, which knows it until it is left; null for none. */
  text: string | null
  /** Whether the project has an ingest key. */
  hasKey: boolean
  create: () => void
}

/** The ingest key for the first call, made in a dialog over the page. */
export function useFirstKey(): FirstKey {
  const { role, of } = useProject()
  const isOwner = role === 'owner'
  const { data: keys } = useQuery({ ...read(of.keys), enabled: isOwner })
  const show = useShow()
  const [text, setText] = useState<string | null>(null)
  return {
    text,
    hasKey: keys?.data.some(({ kind, revokedAt }) => kind === 'ingest' && revokedAt === null) ?? false,
    create: () =>
      show({ ...newKeyDialog, content: (close) => <FirstKeyForm onMade={setText} onCancel={close} /> }),
  }
}

function FirstKeyForm({ onMade, onCancel }: { onMade: (key: string) => void; onCancel: () => void }) {
  return (
    <Suspense>
      <NewKey
        preset={{ name: 'First calls', access: 'ingest' }}
        onCancel={onCancel}
        onMade={({ key }) => onMade(key)}
      />
    </Suspense>
  )
}

/** The command that sends a first call, with the key in it where it is known. */
export function FirstCall({ keyText }: { keyText: string | null }) {
  return <CodeBlock code={firstCall(location.origin, keyText ?? 'ck_ingest_…')} label="Copy command" />
}

function firstCall(origin: string, key: string): string {
  return `curl -X PUT ${origin}/ingest/calls/first-call \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{
    "status": "completed",
    "callerNumber": "+12025550143",
    "duration": 42,
    "evaluation": "success",
    "summary": "Asked when the shop opens.",
    "transcript": [
      {"role": "user", "content": "When do you open tomorrow?"},
      {"role": "assistant", "content": "At nine in the morning."}
    ]
  }'`
}
