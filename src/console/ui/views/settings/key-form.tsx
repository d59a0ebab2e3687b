import { Button, Group, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { KeyRecord } from '../../../../access/keys/key-record.ts'
import { api, unwrap } from '../../api.ts'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { AllowList } from './allow-list.tsx'
import { AllowedOrigins, originsOf } from './allowed-origins.tsx'
import { expiresAtOf, expiryOf } from './expiry.ts'
import { ExpiryField } from './expiry-field.tsx'
import { keysQuery } from './key-queries.ts'
import classes from './settings.module.css'
import { useAddressCheck } from './use-address-check.ts'

/** What may be changed of a key in use. */
export function KeyForm({ record }: { record: KeyRecord }) {
  const { id: project } = useProject()
  const dates = useDates()
  const queryClient = useQueryClient()
  const [name, setName] = useState(record.name)
  const [expiry, setExpiry] = useState(expiryOf(record.expiresAt, dates))
  const [entries, setEntries] = useState(record.allowedIps.length > 0 ? record.allowedIps : [''])
  const [address, setAddress] = useState('')
  const [origins, setOrigins] = useState(record.allowedOrigins.join(', '))
  const check = useAddressCheck(project, entries, address)
  const wasExpiry = expiryOf(record.expiresAt, dates)
  // The same day keeps its exact time.
  const isSameExpiry = expiry.choice === wasExpiry.choice && expiry.day === wasExpiry.day
  const expiresAt = isSameExpiry ? record.expiresAt : expiresAtOf(expiry, dates)
  const next = { name: name.trim(), allowedIps: check.entries, allowedOrigins: originsOf(origins) }
  const { name: wasName, allowedIps, allowedOrigins } = record
  const isChanged =
    !isSameExpiry || JSON.stringify(next) !== JSON.stringify({ name: wasName, allowedIps, allowedOrigins })
  const isReady = isChanged && next.name !== '' && expiresAt !== undefined && check.problems.size === 0
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      unwrap(
        api
          .projects({ project })
          .keys({ id: record.id })
          .patch({ ...next, ...(isSameExpiry ? {} : { expiresAt }) }),
      ),
    onSuccess: async ({ name: saved }) => {
      await queryClient.invalidateQueries(keysQuery(project))
      notifications.show({ message: `${saved} saved.` })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady && !isPending) mutate()
  }
  const errors = fieldErrors(error)
  const opensUp = restricts(record.allowedIps) && !restricts(check.entries)
  return (
    <Panel title="Rules">
      <form onSubmit={submit} className="cb-stack" noValidate>
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={200}
          autoComplete="off"
          error={errors.name}
        />
        <ExpiryField value={expiry} onChange={setExpiry} error={errors.expiresAt} />
        <AllowList
          entries={entries}
          onChange={setEntries}
          address={address}
          onAddressChange={setAddress}
          check={check}
        />
        {opensUp && (
          <p className={classes.fieldError} role="status">
            Saving this lets anyone who has the key use it from any address.
          </p>
        )}
        {(record.scope === 'read' || record.scope === 'search') && (
          <AllowedOrigins value={origins} onChange={setOrigins} />
        )}
        {error && !isAboutFields(error, ['name', 'expiresAt']) && <Problem error={error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!isReady} loading={isPending}>
            Save
          </Button>
        </Group>
      </form>
    </Panel>
  )
}

function restricts(entries: readonly string[]): boolean {
  return entries.length > 0 && !entries.includes('*')
}
