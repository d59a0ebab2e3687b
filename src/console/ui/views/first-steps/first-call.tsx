import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { CodeBlock } from '../../components/code-block.tsx'
import { useProject } from '../../session.ts'
import { keysQuery } from '../settings/key-queries.ts'

const NewKeyDialog = lazy(async () => ({
  default: (await import('../settings/new-key-dialog.tsx')).NewKeyDialog,
}))

interface FirstKey {
  /** The key that was made on this page, which knows it until it is left; null for none. */
  text: string | null
  /** Whether the project has an ingest key. */
  hasKey: boolean
  create: () => void
  dialog: ReactNode
}

/** The ingest key for the first call, made in a dialog over the page. */
export function useFirstKey(): FirstKey {
  const { id: project, role } = useProject()
  const isOwner = role === 'owner'
  const { data: keys } = useQuery({ ...keysQuery(project), enabled: isOwner })
  const [isOpen, setIsOpen] = useState<boolean | null>(null)
  const [text, setText] = useState<string | null>(null)
  return {
    text,
    hasKey: keys?.data.some(({ kind, revokedAt }) => kind === 'ingest' && revokedAt === null) ?? false,
    create: () => setIsOpen(true),
    dialog: isOpen !== null && (
      <Suspense>
        <NewKeyDialog
          opened={isOpen}
          onClose={() => setIsOpen(false)}
          preset={{ name: 'First calls', access: 'ingest' }}
          onMade={(made) => setText(made.key)}
        />
      </Suspense>
    ),
  }
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
