import { ActionIcon, Button, Group, Input, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconCheck, IconPlus, IconX } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ClipboardEvent, useState } from 'react'
import { pathOf, unwrap } from '../../api.ts'
import type { FieldProps } from '../../components/api-form.tsx'
import { DayField } from '../../components/day-field.tsx'
import { Mono } from '../../components/mono.tsx'
import { Labelled } from '../../components/page.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { TagsField } from '../knowledge/tags-field.tsx'
import { type Expiry, expiresAtOf, expiryChoices } from './expiry.ts'

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
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={24}
                  aria-label={`Remove allowed address ${at + 1}`}
                  onClick={() => replace(at, ...(entries.length > 1 ? [] : ['']))}
                >
                  <IconX size={14} />
                </ActionIcon>
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
