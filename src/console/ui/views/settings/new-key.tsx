import { Button, Group, Input, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconCheck, IconPlus, IconX } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ClipboardEvent, type ReactNode, useState } from 'react'
import type { CreatedKey } from '../../../../access/keys/key-record.ts'
import { isTag } from '../../../../text/tags.ts'
import { type Answered, pathOf, unwrap } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { ApiForm, type FieldProps, useApiForm } from '../../components/api-form.tsx'
import { ChoiceCards } from '../../components/choice-cards.tsx'
import { CodeBlock, Mono } from '../../components/code.tsx'
import { DayField } from '../../components/day-field.tsx'
import { useShow } from '../../components/dialogs.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Labelled } from '../../components/page.tsx'
import { Problem } from '../../components/problem.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { TagsField } from '../knowledge/tags-field.tsx'
import { type Access, accesses, type Expiry, expiresAtOf, expiryChoices, newKeyDialog } from './keys.ts'

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

const entriesMax = 1_000
const settledAfterMs = 200

/** When a key stops working: never, in some days, or at the end of a day. */
export function ExpiryField({ value, onChange, error }: FieldProps<Expiry>) {
  const dates = useDates()
  const isDate = value.choice === 'date'
  const isOver = isDate && value.day !== '' && expiresAtOf(value, dates) === undefined
  const fault = isOver ? 'This day has passed. Choose today or a later day.' : error
  return (
    <Labelled label="Expires" id="expiry-label">
      <Group gap="xs">
        <SegmentedControl
          size="xs"
          aria-labelledby="expiry-label"
          value={value.choice}
          onChange={(choice) => onChange({ ...value, choice })}
          data={[...expiryChoices]}
        />
        {isDate && (
          <DayField label="Last day" day={value.day} onChoose={(day) => onChange({ ...value, day })} />
        )}
      </Group>
      {isDate && !isOver && (
        <Text size="xs" c="dimmed" mt={4}>
          The key works through the end of this day.
        </Text>
      )}
      {fault && <Input.Error mt={4}>{fault}</Input.Error>}
    </Labelled>
  )
}

/** The origins in a text, with commas or white space between them. */
export function originsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

/** The pages that may use a key in a browser. */
export function AllowedOrigins({ onChange, ...field }: FieldProps<string>) {
  return (
    <TextInput
      label="Web pages"
      description="Sites whose pages can use the key in a browser. Anyone who opens such a page can read the key."
      placeholder="https://app.example.com"
      classNames={{ input: 'cb-mono' }}
      spellCheck={false}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...field}
    />
  )
}

/** The tags that limit what a key searches. */
export function OnlyTagged(field: FieldProps<string[]>) {
  return (
    <TagsField
      label="Only items tagged"
      description="Items without one of these tags do not exist for the key. Leave empty for all items."
      {...field}
    />
  )
}

/** The entries of an allow-list to send. */
export function allowedIpsOf(entries: readonly string[]): string[] {
  return entries.map((entry) => entry.trim()).filter(Boolean)
}

type AddressCheck = ReturnType<typeof useAddressCheck>

/** Has the service check an allow-list while it is typed, and an address against it, by the rules that it will apply. */
export function useAddressCheck(entries: readonly string[]) {
  const at = useProject().of.keys['check-address']
  const [written, setTested] = useState('')
  const allowedIps = allowedIpsOf(entries)
  const tested = written.trim()
  const typed = JSON.stringify([allowedIps, tested])
  const [settled] = useDebouncedValue(typed, settledAfterMs)
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: [...pathOf(at), settled],
    queryFn: async ({ signal }) => {
      const [allowedIps, address]: [string[], string] = JSON.parse(settled)
      const { problems, allows } = await unwrap(
        at.post({ allowedIps, ...(address && { address }) }, { fetch: { signal } }),
      )
      return { faults: new Map(problems.map(({ index, message }) => [allowedIps[index], message])), allows }
    },
    enabled: allowedIps.length > 0 || tested !== '',
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const isSettled = typed === settled && !isPlaceholderData
  return {
    faultOf: (entry: string) => data?.faults.get(entry.trim()),
    // Those of entries that have been corrected or removed do not count.
    hasFaults: allowedIps.some((entry) => data?.faults.has(entry)),
    tested: written,
    setTested,
    /** Whether the address to test would be allowed; null when that is not known. */
    allows: isSettled && tested ? (data?.allows ?? null) : null,
    /** Whether the result belongs to the current input. */
    isSettled,
    error,
  }
}

/** The addresses that a key may be used from, each checked while typing, and a field to test an address. */
export function AllowList({
  value: entries,
  onChange,
  check,
}: FieldProps<string[]> & { check: AddressCheck }) {
  const replace = (at: number, ...by: string[]) =>
    onChange(entries.toSpliced(at, 1, ...by).slice(0, entriesMax))
  const paste = (at: number) => (event: ClipboardEvent) => {
    const pasted = event.clipboardData
      .getData('text')
      .split(/[\s,;]+/)
      .filter(Boolean)
    if (pasted.length < 2) return
    event.preventDefault()
    replace(at, ...(entries[at]?.trim() ? [entries[at]] : []), ...pasted)
  }
  return (
    <Stack component="fieldset" gap={0} align="flex-start" miw={0} m={0} p={0} bd="none">
      <Text component="legend" fw={500} mb={4} p={0}>
        Allowed addresses
      </Text>
      <Text size="xs" c="dimmed" mb="xs">
        An address such as <Mono>203.0.113.9</Mono>, a range such as <Mono>203.0.113.0/24</Mono>, or IPv6.
        Leave empty to allow any address.
      </Text>
      <Stack gap="xs" w="100%" mah={240} mb={4} style={{ overflowY: 'auto' }}>
        {entries.map((entry, at) => (
          <AddressInput
            // Keyed by position: two entries may be equal while they are typed.
            key={`entry-${String(at)}`}
            aria-label={`Allowed address ${at + 1}`}
            placeholder="203.0.113.0/24"
            value={entry}
            onChange={(event) => replace(at, event.currentTarget.value)}
            onPaste={paste(at)}
            error={check.faultOf(entry)}
            rightSection={
              (entries.length > 1 || entry) && (
                <IconButton
                  icon={IconX}
                  label={`Remove allowed address ${at + 1}`}
                  size={24}
                  onClick={() => replace(at, ...(entries.length > 1 ? [] : ['']))}
                />
              )
            }
          />
        ))}
      </Stack>
      <Button
        variant="subtle"
        size="xs"
        leftSection={<IconPlus size={14} />}
        onClick={() => onChange([...entries, ''])}
        disabled={entries.length >= entriesMax}
      >
        Add address
      </Button>
      <Group
        gap="4px 12px"
        align="flex-end"
        w="100%"
        mt="xs"
        pt="sm"
        style={{ borderTop: '1px solid var(--cb-border)' }}
      >
        <AddressInput
          w={240}
          label="Test an address"
          placeholder="198.51.100.7"
          value={check.tested}
          onChange={(event) => check.setTested(event.currentTarget.value)}
        />
        <Group role="status" gap={4} mih={32} c={colorOf(check.allows)}>
          <TestAnswer {...check} />
        </Group>
      </Group>
    </Stack>
  )
}

const AddressInput = TextInput.withProps({
  classNames: { input: 'cb-mono' },
  autoComplete: 'off',
  spellCheck: false,
  maxLength: 100,
})

function colorOf(allows: boolean | null): string | undefined {
  if (allows === null) return undefined
  return allows ? 'var(--cb-success-text)' : 'var(--cb-danger-text)'
}

function TestAnswer({ tested, error, isSettled, hasFaults, allows }: AddressCheck) {
  if (!tested.trim()) return <span className="cb-dimmed">Would it be allowed?</span>
  if (error) return <>The test failed: {error.message}</>
  if (!isSettled) return <span className="cb-dimmed">…</span>
  if (hasFaults) return <span className="cb-dimmed">Fix the list first.</span>
  if (allows === null) return <>This is not an IP address.</>
  const Icon = allows ? IconCheck : IconX
  return (
    <>
      <Icon size={14} aria-hidden /> Would be {allows ? 'allowed' : 'refused'}
    </>
  )
}
