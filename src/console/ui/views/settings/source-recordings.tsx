import { Button, Checkbox, Group, PasswordInput, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type PlatformName, setUpOf } from '../../../../sources/catalog.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { api, unwrap } from '../../api.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import { settingsQuery } from './privacy-queries.ts'
import { sourceQuery } from './source-queries.ts'
import { useSecretRequest } from './use-secret-request.ts'

interface KeepRecordingsProps {
  isChosen: boolean
  onChoose: (isChosen: boolean) => void
  /** What is asked for if the project keeps recordings. */
  children: ReactNode
}

/** Whether the project keeps recordings; a choice only while it does not. */
export function KeepRecordings({ isChosen, onChoose, children }: KeepRecordingsProps) {
  const { id: project } = useProject()
  const { data } = useQuery(settingsQuery(project))
  const isKept = data?.recordings === 'keep'
  return (
    <>
      <Checkbox
        label="Keep recordings"
        description={
          isKept
            ? 'This project keeps them already.'
            : 'Callbook fetches the recordings of this project’s calls from their platforms. Off by default.'
        }
        checked={isKept || isChosen}
        disabled={isKept}
        onChange={(event) => onChoose(event.currentTarget.checked)}
      />
      {(isKept || isChosen) && children}
    </>
  )
}

interface ApiFieldsProps {
  platform: PlatformName
  given: Readonly<Record<string, string>>
  onGive: (option: string) => (value: string) => void
  errors: Readonly<Record<string, string>>
}

/** The key that opens the platform's API, and where that is. */
export function ApiFields({ platform, given, onGive, errors }: ApiFieldsProps) {
  const { label, apiKeyName } = setUpOf(platform)
  return (
    <>
      <PasswordInput
        label="API key"
        description={`${apiKeyName}. Opens recordings that ${label}’s events do not. It is never shown again.`}
        value={given.apiKey ?? ''}
        onChange={(event) => onGive('apiKey')(event.currentTarget.value)}
        autoComplete="off"
        maxLength={500}
        error={errors.apiKey}
      />
      <TextInput
        label="API host"
        description={`Only if your ${label} account has a host of its own, as in another region.`}
        value={given.host ?? ''}
        onChange={(event) => onGive('host')(event.currentTarget.value)}
        autoComplete="off"
        maxLength={200}
        error={errors.host}
      />
    </>
  )
}

interface SourceRecordingsProps {
  source: SourceRecord
  project: string
}

/** The API key of a source, to be saved or replaced. */
export function SourceRecordings({ source, project }: SourceRecordingsProps) {
  const [isOpen, setOpen] = useState(false)
  const { label } = setUpOf(source.platform)
  return (
    <Panel title="Recordings">
      {isOpen ? (
        <SaveApiKey source={source} project={project} onDone={() => setOpen(false)} />
      ) : (
        <Group justify="space-between">
          <span className="cb-dimmed">
            {source.hasApiKey ? `${label}’s API key: stored.` : `No API key of ${label} yet.`}
          </span>
          <Button variant="default" size="xs" onClick={() => setOpen(true)}>
            {source.hasApiKey ? 'Replace' : 'Add'}
          </Button>
        </Group>
      )}
    </Panel>
  )
}

function SaveApiKey({
  source: { id, platform, options },
  project,
  onDone,
}: SourceRecordingsProps & { onDone: () => void }) {
  const queryClient = useQueryClient()
  const [given, setGiven] = useState<Record<string, string>>({ host: options.host ?? '' })
  const { request, isPending, error } = useSecretRequest(async () => {
    const filled = Object.entries(given).flatMap(([key, value]) =>
      value.trim() ? [[key, value.trim()]] : [],
    )
    await unwrap(
      api
        .projects({ project })
        .sources({ id })
        .patch({ options: Object.fromEntries(filled) }),
    )
    await queryClient.invalidateQueries(sourceQuery(project, id))
    notifications.show({ message: 'API key saved.' })
    onDone()
  })
  return (
    <ActionForm
      label="Save API key"
      isReady={Boolean(given.apiKey?.trim())}
      isPending={isPending}
      onSubmit={request}
      onCancel={onDone}
      noValidate
    >
      <ApiFields
        platform={platform}
        given={given}
        onGive={(option) => (value) => setGiven((before) => ({ ...before, [option]: value }))}
        errors={fieldErrors(error)}
      />
      {error !== null && !isAboutFields(error, ['apiKey', 'host']) && <Problem error={error} />}
    </ActionForm>
  )
}
