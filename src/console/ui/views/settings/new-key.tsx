import { Button, Group, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { CreatedKey } from '../../../../access/keys/key-record.ts'
import { isTag } from '../../../../text/tags.ts'
import type { Answered } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { ChoiceCards } from '../../components/choice-cards.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { useShow } from '../../components/dialogs.tsx'
import { Labelled } from '../../components/page.tsx'
import { Problem } from '../../components/problem.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { type Expiry, expiresAtOf } from './expiry.ts'
import {
  AllowedOrigins,
  AllowList,
  allowedIpsOf,
  ExpiryField,
  OnlyTagged,
  originsOf,
  useAddressCheck,
} from './key-rules.tsx'
import { type Access, accesses, newKeyDialog } from './keys.ts'

interface NewKeyOptions {
  /** For one use: what its key is called, and its only access. */
  preset?: { name: string; access: Access }
  /** What the new key is used for, in place of a first request. */
  use?: ReactNode
  onMade?: (made: CreatedKey) => void
}

/** Opens the dialog that creates a key and shows it once. */
export function useNewKey() {
  const show = useShow()
  return (options: NewKeyOptions = {}) =>
    show({ ...newKeyDialog, content: (close) => <NewKey {...options} onCancel={close} /> })
}

/** Shows a new key in full, this once. Only the dialog has it, never a cache. */
export function useShowKey() {
  const show = useShow()
  return (made: CreatedKey, use?: ReactNode, onStored?: () => void) =>
    show({
      title: 'Save your key',
      size: newKeyDialog.size,
      isLocked: true,
      content: (close) => (
        <ShownOnce
          what="key"
          text={made.key}
          warning={
            <>
              This is the only time the key <strong>{made.name}</strong> is shown. Callbook stores only a hash
              of it. Copy it to where you keep your secrets.
            </>
          }
          onStored={() => {
            close()
            onStored?.()
          }}
        >
          {use ?? (made.kind === 'ingest' ? <TryIngest made={made} /> : <Command code={commandFor(made)} />)}
        </ShownOnce>
      ),
    })
}

/** The name, access, expiry and allowed addresses of a new key. */
export function NewKey({ preset, use, onMade, onCancel }: NewKeyOptions & { onCancel: () => void }) {
  const showKey = useShowKey()
  const { of } = useProject()
  const dates = useDates()
  const form = useApiForm({
    first: {
      name: preset?.name ?? '',
      access: preset?.access ?? ('full' as Access),
      expiry: { choice: 'never', day: '' } as Expiry,
      entries: [''],
      origins: '',
      tags: [] as string[],
    },
    needs: ['name'],
    isReady: ({ expiry, tags }) => expiresAtOf(expiry, dates) !== undefined && tags.every(isTag),
    body: ({ name, access, expiry, entries, origins, tags }) => ({
      name: name.trim(),
      ...(access === 'ingest' ? { kind: access } : { kind: 'live' as const, scope: access }),
      allowedIps: allowedIpsOf(entries),
      allowedOrigins: isForPages(access) ? originsOf(origins) : [],
      tags: access === 'search' ? tags : [],
      expiresAt: expiresAtOf(expiry, dates) ?? null,
    }),
    send: (body) => of.keys.post(body),
    changes: of.keys,
    done: (made) => {
      onMade?.(made)
      showKey(made, use)
    },
  })
  const check = useAddressCheck(form.values.entries)
  return (
    <ApiForm form={form} label="Create key" isReady={!check.hasFaults} onCancel={onCancel}>
      <TextInput
        label="Name"
        description="Say what the key is for, so that others know whether they can revoke it."
        placeholder="Production agents"
        maxLength={200}
        data-autofocus
        {...form.field('name')}
      />
      {!preset && <ChoiceCards label="Access" choices={accessChoices} {...form.field('access')} />}
      {form.values.access === 'search' && <OnlyTagged {...form.field('tags')} />}
      <ExpiryField {...form.field('expiry', 'expiresAt')} />
      <AllowList check={check} {...form.field('entries')} />
      {isForPages(form.values.access) && <AllowedOrigins {...form.field('origins')} />}
    </ApiForm>
  )
}

const accessChoices = Object.entries(accesses).map(([value, { label, opens }]) => ({
  value,
  label,
  text: opens,
}))

function isForPages(access: Access): boolean {
  return access === 'read' || access === 'search'
}

function Command({ code }: { code: string }) {
  return (
    <Labelled label="Try it">
      <CodeBlock code={code} label="Copy command" />
    </Labelled>
  )
}

/** Sends a first call with the key. The same button deletes that call again, since no caller has made it. */
function TryIngest({ made: { key } }: { made: CreatedKey }) {
  const { of } = useProject()
  const [id, setId] = useState(newCallId)
  const [isThere, setThere] = useState(false)
  const path = `/ingest/calls/${id}`
  const { mutate, isPending, error } = useAct<void, unknown>({
    send: async () =>
      isThere
        ? of.calls({ id }).delete()
        : answerOf(await fetch(path, { method: 'PUT', headers: headersOf(key), body: firstCall })),
    done: () => {
      setThere(!isThere)
      // The id of a deleted call is never used again.
      if (isThere) setId(newCallId())
    },
  })
  return (
    <div className="cb-stack">
      <Command
        code={`curl -X PUT ${location.origin}${path} \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" -d '${firstCall}'`}
      />
      {error && <Problem error={error} />}
      <Group gap="xs">
        <Button variant="default" loading={isPending} onClick={() => mutate()}>
          {isThere ? 'Delete it again' : 'Send this call'}
        </Button>
        <span role="status">{isThere && 'The call has arrived.'}</span>
      </Group>
    </div>
  )
}

function newCallId(): string {
  return `try-${crypto.getRandomValues(new Uint32Array(2)).join('')}`
}

const firstCall = JSON.stringify({
  status: 'completed',
  duration: 42,
  summary: 'A first call.',
  transcript: [{ role: 'user', content: 'Hello?' }],
})

function headersOf(key: string): HeadersInit {
  return { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
}

async function answerOf(response: Response): Promise<Answered<unknown>> {
  const body: unknown = await response.json()
  return response.ok ? { data: body, error: null } : { data: null, error: body, response }
}

function commandFor({ scope, key }: CreatedKey): string {
  const authorization = `-H "Authorization: Bearer ${key}"`
  if (scope === 'search') {
    return `curl ${location.origin}/v1/knowledge/search \\
  ${authorization} \\
  -H "Content-Type: application/json" -d '{"query":"refunds"}'`
  }
  return `curl ${location.origin}/v1/calls \\
  ${authorization}`
}
