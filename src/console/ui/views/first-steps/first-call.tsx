import { Box, Button } from '@mantine/core'
import { IconPhone } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { read } from '../../api.ts'
import { CodeBlock } from '../../components/code.tsx'
import { useShow } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { useProject, useRefusal } from '../../session.ts'
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

/** Teaches how the first call gets in. */
export function NoCalls() {
  const isOwner = useRefusal('manage') === null
  const key = useFirstKey()
  return (
    <Empty
      icon={<IconPhone size={24} stroke={1.6} />}
      title="No calls yet"
      action={
        isOwner && (
          <Button variant={key.hasKey ? 'default' : 'filled'} onClick={key.create}>
            {key.hasKey ? 'Create another ingest key' : 'Create an ingest key'}
          </Button>
        )
      }
    >
      <p>
        {key.text
          ? 'Run this command, and the call appears here:'
          : isOwner
            ? 'Platforms send calls with an ingest key. Create one and run this command, and the call appears here:'
            : 'Platforms send calls with an ingest key, which an owner of this project can create. With a key, run this:'}
      </p>
      <Box w="min(600px, 100%)" mt="md">
        <FirstCall keyText={key.text} />
      </Box>
    </Empty>
  )
}
