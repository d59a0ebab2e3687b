import { Button, Group, PasswordInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconRefresh } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { setUpOf } from '../../../../sources/catalog.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { api, unwrap } from '../../api.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'
import { SecretModal } from '../../components/shown-once.tsx'
import { MadeSecret } from './made-secret.tsx'
import classes from './settings.module.css'
import { sourceQuery } from './source-queries.ts'
import { useSecretRequest } from './use-secret-request.ts'

interface SourceSecretProps {
  source: SourceRecord
  project: string
}

/** The secret of a source: to be pasted where the platform makes it, else to be replaced by a new one. */
export function SourceSecret({ source, project }: SourceSecretProps) {
  const { platform, hasSecret } = source
  const { secretFrom, secretName } = setUpOf(platform)
  const [isOpen, setOpen] = useState(false)
  if (secretFrom === 'us') return <NewSecret source={source} project={project} />
  if (!hasSecret || isOpen) {
    return <PasteSecret source={source} project={project} onDone={() => setOpen(false)} />
  }
  return (
    <div>
      <p className={classes.label}>Secret</p>
      <Group justify="space-between">
        <span className="cb-dimmed">{secretName}: stored.</span>
        <Button variant="default" size="xs" onClick={() => setOpen(true)}>
          Replace
        </Button>
      </Group>
    </div>
  )
}

function PasteSecret({ source, project, onDone }: SourceSecretProps & { onDone: () => void }) {
  const { id, platform, hasSecret } = source
  const { secretName } = setUpOf(platform)
  const queryClient = useQueryClient()
  const [secret, setSecret] = useState('')
  const { request, isPending, error } = useSecretRequest(async () => {
    await unwrap(api.projects({ project }).sources({ id }).rotate.post({ secret: secret.trim() }))
    await queryClient.invalidateQueries(sourceQuery(project, id))
    notifications.show({ message: 'Secret saved.' })
    onDone()
  })
  return (
    <ActionForm
      label="Save secret"
      isReady={secret.trim() !== ''}
      isPending={isPending}
      onSubmit={request}
      onCancel={hasSecret ? onDone : undefined}
      noValidate
    >
      <PasswordInput
        label="Secret"
        description={`${secretName}.${hasSecret ? ' The previous one is accepted for another 24 hours.' : ''}`}
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
        autoComplete="off"
        maxLength={500}
        error={fieldErrors(error).secret}
      />
      {error !== null && !isAboutFields(error, ['secret']) && <Problem error={error} />}
    </ActionForm>
  )
}

function NewSecret({ source: { id, platform }, project }: SourceSecretProps) {
  const [made, setMade] = useState<string | null>(null)
  const { request, isPending, error } = useSecretRequest(async () => {
    const { secret } = await unwrap(api.projects({ project }).sources({ id }).rotate.post({}))
    setMade(secret ?? null)
  })
  return (
    <div>
      <p className={classes.label}>Secret</p>
      <Group justify="space-between">
        <span className="cb-dimmed">Shown once, when it was created.</span>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconRefresh size={14} />}
          loading={isPending}
          onClick={request}
        >
          Create a new secret
        </Button>
      </Group>
      {error !== null && <Problem error={error} />}
      <SecretModal opened={made !== null} onClose={() => setMade(null)} title="Save the new secret">
        {made !== null && (
          <MadeSecret id={id} platform={platform} secret={made} onStored={() => setMade(null)} />
        )}
      </SecretModal>
    </div>
  )
}
