import { ActionIcon, Button, TextInput } from '@mantine/core'
import { IconCheck, IconPlus, IconX } from '@tabler/icons-react'
import type { ClipboardEvent } from 'react'
import { Mono } from '../../components/mono.tsx'
import classes from './settings.module.css'
import type { AddressCheckState } from './use-address-check.ts'

const entriesMax = 1_000

interface AllowListProps {
  entries: string[]
  onChange: (entries: string[]) => void
  address: string
  onAddressChange: (address: string) => void
  check: AddressCheckState
}

/** The addresses that a key may be used from, each checked while typing, and a field to test an address. */
export function AllowList({ entries, onChange, address, onAddressChange, check }: AllowListProps) {
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
    <fieldset className={classes.fieldset}>
      <legend className={classes.label}>Allowed addresses</legend>
      <p className={classes.fieldHint}>
        An address such as <Mono>203.0.113.9</Mono>, a range such as <Mono>203.0.113.0/24</Mono>, or IPv6.
        Leave empty to allow any address.
      </p>
      <div className={classes.entries}>
        {entries.map((entry, at) => (
          // Keyed by position: two entries may be equal while they are typed.
          <TextInput
            key={`entry-${String(at)}`}
            aria-label={`Allowed address ${at + 1}`}
            placeholder="203.0.113.0/24"
            value={entry}
            onChange={(event) => replace(at, event.currentTarget.value)}
            onPaste={paste(at)}
            classNames={{ input: 'cb-mono' }}
            autoComplete="off"
            spellCheck={false}
            maxLength={100}
            error={check.problems.get(entry.trim())}
            rightSection={
              (entries.length > 1 || entry) && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={24}
                  aria-label={`Remove allowed address ${at + 1}`}
                  onClick={() => (entries.length > 1 ? replace(at) : replace(at, ''))}
                >
                  <IconX size={14} />
                </ActionIcon>
              )
            }
          />
        ))}
      </div>
      <Button
        variant="subtle"
        size="xs"
        leftSection={<IconPlus size={14} />}
        onClick={() => onChange([...entries, ''])}
        disabled={entries.length >= entriesMax}
      >
        Add address
      </Button>
      <div className={classes.testAddress}>
        <TextInput
          label="Test an address"
          placeholder="198.51.100.7"
          value={address}
          onChange={(event) => onAddressChange(event.currentTarget.value)}
          classNames={{ input: 'cb-mono' }}
          autoComplete="off"
          spellCheck={false}
          maxLength={100}
        />
        <p role="status" className={classes.testAnswer} data-allows={check.allows ?? undefined}>
          <TestAnswer check={check} address={address.trim()} />
        </p>
      </div>
    </fieldset>
  )
}

function TestAnswer({ check, address }: { check: AddressCheckState; address: string }) {
  if (!address) return <span className="cb-dimmed">Would it be allowed?</span>
  if (check.error) return <>The test failed: {check.error.message}</>
  if (!check.isSettled) return <span className="cb-dimmed">…</span>
  if (check.problems.size > 0) return <span className="cb-dimmed">Fix the list first.</span>
  if (check.allows === null) return <>This is not an IP address.</>
  return check.allows ? (
    <>
      <IconCheck size={14} aria-hidden /> Would be allowed
    </>
  ) : (
    <>
      <IconX size={14} aria-hidden /> Would be refused
    </>
  )
}
