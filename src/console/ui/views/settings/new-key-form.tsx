import { Radio, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { CreatedKey } from '../../../../access/keys/key-record.ts'
import { api, unwrap } from '../../api.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { AllowList } from './allow-list.tsx'
import { AllowedOrigins, originsOf } from './allowed-origins.tsx'
import { type Expiry, expiresAtOf } from './expiry.ts'
import { ExpiryField } from './expiry-field.tsx'
import { type Access, accesses, isAccess } from './key-queries.ts'
import classes from './settings.module.css'
import { useAddressCheck } from './use-address-check.ts'
import { useSecretRequest } from './use-secret-request.ts'

export interface KeyPreset {
  name: string
  access: Access
}

interface NewKeyFormProps {
  preset?: KeyPreset | undefined
  onCancel: () => void
  onMade: (key: CreatedKey) => void
}

/** The name, access, expiry and allowed addresses of a new key. */
export function NewKeyForm({ preset, onCancel, onMade }: NewKeyFormProps) {
  const { id: project } = useProject()
  const dates = useDates()
  const [name, setName] = useState(preset?.name ?? '')
  const [access, setAccess] = useState<Access>(preset?.access ?? 'full')
  const [expiry, setExpiry] = useState<Expiry>({ choice: 'never', day: '' })
  const [entries, setEntries] = useState([''])
  const [address, setAddress] = useState('')
  const [origins, setOrigins] = useState('')
  const check = useAddressCheck(project, entries, address)
  const expiresAt = expiresAtOf(expiry, dates)
  const isForPages = access === 'read' || access === 'search'
  const isReady = name.trim() !== '' && expiresAt !== undefined && check.problems.size === 0
  const { request, isPending, error } = useSecretRequest(async () => {
    if (expiresAt === undefined) return
    const kind = access === 'ingest' ? { kind: access } : { kind: 'live' as const, scope: access }
    const allowedOrigins = isForPages ? originsOf(origins) : []
    const body = { name: name.trim(), ...kind, allowedIps: check.entries, allowedOrigins, expiresAt }
    onMade(await unwrap(api.projects({ project }).keys.post(body)))
  })
  const errors = fieldErrors(error)
  return (
    <ActionForm
      label="Create key"
      isReady={isReady}
      isPending={isPending}
      onSubmit={request}
      onCancel={onCancel}
      noValidate
    >
      <TextInput
        label="Name"
        description="Say what the key is for, so that others know whether they can revoke it."
        placeholder="Production agents"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        autoComplete="off"
        error={errors.name}
        data-autofocus
      />
      {!preset && (
        <Radio.Group
          label="Access"
          value={access}
          onChange={(value) => {
            if (isAccess(value)) setAccess(value)
          }}
        >
          <div className={classes.choices}>
            {Object.entries(accesses).map(([value, { label, opens }]) => (
              <Radio.Card key={value} value={value} className={classes.choice}>
                <Radio.Indicator size="xs" />
                <span>
                  <strong>{label}</strong>
                  <span className="cb-dimmed">{opens}</span>
                </span>
              </Radio.Card>
            ))}
          </div>
        </Radio.Group>
      )}
      <ExpiryField value={expiry} onChange={setExpiry} error={errors.expiresAt} />
      <AllowList
        entries={entries}
        onChange={setEntries}
        address={address}
        onAddressChange={setAddress}
        check={check}
      />
      {isForPages && <AllowedOrigins value={origins} onChange={setOrigins} />}
      {error !== null && !isAboutFields(error, ['name', 'expiresAt']) && <Problem error={error} />}
    </ActionForm>
  )
}
