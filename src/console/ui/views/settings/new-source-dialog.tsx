import { Checkbox, Modal, Radio, Select, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type PlatformName, platformNames, setUpOf } from '../../../../sources/catalog.ts'
import type { MadeSource } from '../../../../sources/sources.ts'
import { api, unwrap } from '../../api.ts'
import { ActionForm } from '../../components/action-form.tsx'
import cards from '../../components/choice-cards.module.css'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'
import { SecretModal } from '../../components/shown-once.tsx'
import { useProject } from '../../session.ts'
import { MadeSecret } from './made-secret.tsx'
import { settingsQuery } from './privacy-queries.ts'
import classes from './settings.module.css'
import { sourcesQuery } from './source-queries.ts'
import { ApiFields, KeepRecordings } from './source-recordings.tsx'
import { useSecretRequest } from './use-secret-request.ts'

interface NewSourceDialogProps {
  opened: boolean
  onClose: () => void
  /** Called with the id of the source, once its secret is stored if it has one of ours. */
  onMade: (id: string) => void
}

/** Makes a source. A secret that we make is shown once, and only this dialog holds it. */
export function NewSourceDialog({ opened, onClose, onMade }: NewSourceDialogProps) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const [made, setMade] = useState<MadeSource | null>(null)
  const finish = ({ id }: MadeSource) => {
    setMade(null)
    onMade(id)
  }
  if (made?.secret) {
    return (
      <SecretModal opened onClose={() => finish(made)} title={`Connect ${setUpOf(made.platform).label}`}>
        <MadeSecret
          id={made.id}
          platform={made.platform}
          secret={made.secret}
          onStored={() => finish(made)}
        />
      </SecretModal>
    )
  }
  return (
    <Modal opened={opened} onClose={onClose} title="Add source" size={560}>
      {opened && (
        <NewSourceForm
          onCancel={onClose}
          onMade={(source) => {
            void queryClient.invalidateQueries(sourcesQuery(project))
            void queryClient.invalidateQueries(settingsQuery(project))
            if (source.secret) setMade(source)
            else finish(source)
          }}
        />
      )}
    </Modal>
  )
}

function NewSourceForm({ onCancel, onMade }: { onCancel: () => void; onMade: (source: MadeSource) => void }) {
  const { id: project } = useProject()
  const [platform, setPlatform] = useState<PlatformName>('vapi')
  const [name, setName] = useState('')
  const [given, setGiven] = useState<Record<string, string>>({})
  const [keeps, setKeeps] = useState(false)
  const { label, options, apiKeyName } = setUpOf(platform)
  const give = (key: string) => (value: string) => setGiven((before) => ({ ...before, [key]: value }))

  const { request, isPending, error } = useSecretRequest(async () => {
    if (keeps) await unwrap(api.projects({ project }).settings.put({ recordings: 'keep' }))
    const chosen = Object.entries(given).flatMap(([key, value]) =>
      value.trim() ? [[key, value.trim()]] : [],
    )
    const named = name.trim() ? { name: name.trim() } : {}
    const body = { platform, ...named, options: Object.fromEntries(chosen) }
    onMade(await unwrap(api.projects({ project }).sources.post(body)))
  })
  const choose = (value: string) => {
    const chosen = platformNames.find((each) => each === value)
    if (chosen) setPlatform(chosen)
    setGiven({})
  }
  const errors = fieldErrors(error)
  return (
    <ActionForm
      label={`Add ${label}`}
      isPending={isPending}
      onSubmit={request}
      onCancel={onCancel}
      noValidate
    >
      <Radio.Group label="Platform" value={platform} onChange={choose}>
        <div className={`${cards.choices} ${classes.platforms}`}>
          {platformNames.map((value) => (
            <Radio.Card
              key={value}
              value={value}
              className={cards.choice}
              data-autofocus={value === platform || undefined}
            >
              <Radio.Indicator size="xs" />
              <span>
                <strong>{setUpOf(value).label}</strong>
                <span className="cb-dimmed">
                  {setUpOf(value).isLive ? 'During and after' : 'After the call'}
                </span>
              </span>
            </Radio.Card>
          ))}
        </div>
      </Radio.Group>
      <TextInput
        label="Name"
        description="Tells this source apart from others on the same platform."
        placeholder={label}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        autoComplete="off"
        error={errors.name}
      />
      {Object.entries(options).map(([key, choices]) => (
        <OptionField
          key={key}
          name={key}
          choices={choices}
          value={given[key] ?? ''}
          error={errors[key]}
          onChange={give(key)}
        />
      ))}
      {apiKeyName !== undefined && (
        <KeepRecordings isChosen={keeps} onChoose={setKeeps}>
          <ApiFields platform={platform} given={given} onGive={give} errors={errors} />
        </KeepRecordings>
      )}
      {error !== null && !isAboutFields(error, ['name', 'apiKey', 'host']) && <Problem error={error} />}
    </ActionForm>
  )
}

/** What no event of the platform says, and what is kept only if people ask for it. */
const optionLabels: Record<string, { label: string; description: string }> = {
  apiKey: {
    label: 'API key',
    description: 'LIVEKIT_API_KEY of the agents. Their secret comes next.',
  },
  direction: {
    label: 'Direction',
    description: 'The platform’s events do not say who called. Inbound by default.',
  },
  summaryInsight: {
    label: 'Summary insight',
    description: 'The ID of the insight that holds the call’s summary, if you have one.',
  },
  metadata: {
    label: 'Keep your own metadata',
    description: 'Metadata or variables that you attach to a call become its metadata. Off by default.',
  },
}

function OptionField({
  name,
  choices,
  value,
  error,
  onChange,
}: {
  name: string
  choices: readonly string[] | null
  value: string
  error: string | undefined
  onChange: (value: string) => void
}) {
  const texts = optionLabels[name] ?? { label: name, description: '' }
  const [only, ...others] = choices ?? []
  if (only !== undefined && others.length === 0) {
    return (
      <Checkbox
        {...texts}
        checked={value === only}
        onChange={(event) => onChange(event.currentTarget.checked ? only : '')}
      />
    )
  }
  if (choices) {
    return (
      <Select
        {...texts}
        data={[...choices]}
        value={value || null}
        onChange={(next) => onChange(next ?? '')}
        clearable
      />
    )
  }
  return (
    <TextInput
      {...texts}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
      maxLength={200}
    />
  )
}
