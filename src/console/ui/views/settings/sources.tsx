import { Checkbox, PasswordInput, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type PlatformName, platformNames, setUpOf } from '../../../../sources/catalog.ts'
import type { MadeSource, SourceRecord } from '../../../../sources/sources.ts'
import { read, unwrap } from '../../api.ts'
import { ApiForm, type FieldProps, useApiForm } from '../../components/api-form.tsx'
import { ChoiceCards } from '../../components/choice-cards.tsx'
import { CodeBlock } from '../../components/code.tsx'
import { useShow } from '../../components/dialogs.tsx'
import { Labelled } from '../../components/page.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'

/** What no event of a platform says, and what is kept only if people ask for it. */
const options = {
  apiKey: {
    label: 'API key',
    description: 'LIVEKIT_API_KEY of the agents. Their secret comes next.',
  },
  host: { label: 'API host', description: '' },
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
  tools: {
    label: 'Keep what tools received and returned',
    description: 'For tests made of calls. It may hold personal data of callers. Off by default.',
  },
}
const platforms = platformNames.map((value) => {
  const { label, isLive } = setUpOf(value)
  return { value, label, text: isLive ? 'During and after' : 'After the call' }
})
const optionNames = Object.keys(options) as (keyof typeof options)[]
const noOptions = { apiKey: '', host: '', direction: '', summaryInsight: '', metadata: '', tools: '' }

/** Opens the dialog that adds a source. A secret that we make is shown once, and only a dialog holds it. */
export function useNewSource() {
  const show = useShow()
  return () => show({ title: 'Add source', size: 560, content: (close) => <NewSource onCancel={close} /> })
}

function NewSource({ onCancel }: { onCancel: () => void }) {
  const { of } = useProject()
  const navigate = useNavigate()
  const showSecret = useShowSecret()
  const form = useApiForm({
    first: { platform: 'vapi' as PlatformName, name: '', keeps: false, ...noOptions },
    body: ({ platform, name, keeps, ...given }) => ({
      platform,
      ...(name.trim() && { name: name.trim() }),
      options: filled(given),
      keeps,
    }),
    send: async ({ keeps, ...source }) => {
      if (keeps) await unwrap(of.settings.put({ recordings: 'keep' }))
      return await of.sources.post(source)
    },
    changes: [of.sources, of.settings],
    done: (made) => {
      const open = () => void navigate({ ...to.source(made.id), ignoreBlocker: true })
      if (made.secret) showSecret(made, `Connect ${setUpOf(made.platform).label}`, open)
      else {
        onCancel()
        open()
      }
    },
  })
  const { platform, keeps } = form.values
  const { label, options: choices, apiKeyName } = setUpOf(platform)
  return (
    <ApiForm form={form} label={`Add ${label}`} onCancel={onCancel}>
      <ChoiceCards
        label="Platform"
        cols={{ base: 2, xs: 3 }}
        takesFocus
        choices={platforms}
        value={platform}
        onChange={(chosen) => form.set({ platform: chosen, ...noOptions })}
      />
      <TextInput
        label="Name"
        description="Tells this source apart from others on the same platform."
        placeholder={label}
        maxLength={200}
        {...form.field('name')}
      />
      {optionNames.map(
        (name) =>
          Object.hasOwn(choices, name) && (
            <OptionField key={name} {...options[name]} choices={choices[name] ?? []} {...form.field(name)} />
          ),
      )}
      {apiKeyName !== undefined && (
        <KeepRecordings isChosen={keeps} onChoose={(chosen) => form.set({ keeps: chosen })}>
          <ApiFields platform={platform} apiKey={form.field('apiKey')} host={form.field('host')} />
        </KeepRecordings>
      )}
    </ApiForm>
  )
}

/** The options that were filled in. */
export function filled(given: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = Object.entries(given).map(([name, value]) => [name, value.trim()] as const)
  return Object.fromEntries(pairs.filter(([, value]) => value !== ''))
}

/** What an input of a form is given, which tells it by an event or the value. */
interface TextField extends FieldProps<string> {
  onChange: (next: unknown) => void
}

interface OptionFieldProps extends TextField {
  label: string
  description: string
  /** Any text without one. */
  choices: readonly string[]
}

function OptionField({ choices, ...field }: OptionFieldProps) {
  const [only, ...others] = choices
  if (only === undefined) return <TextInput {...field} maxLength={200} />
  const { value, onChange, ...texts } = field
  if (others.length === 0)
    return (
      <Checkbox
        {...texts}
        checked={value === only}
        onChange={(event) => onChange(event.currentTarget.checked ? only : '')}
      />
    )
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

interface KeepRecordingsProps {
  isChosen: boolean
  onChoose: (isChosen: boolean) => void
  /** What is asked for if the project keeps recordings. */
  children: ReactNode
}

/** Whether the project keeps recordings; a choice only while it does not. */
function KeepRecordings({ isChosen, onChoose, children }: KeepRecordingsProps) {
  const { data } = useQuery(read(useProject().of.settings))
  const isKept = data !== undefined && data.recordings !== 'off'
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
  apiKey: TextField
  host: TextField
}

/** The key that opens the platform's API, and where that is. */
export function ApiFields({ platform, apiKey, host }: ApiFieldsProps) {
  const { label, apiKeyName } = setUpOf(platform)
  return (
    <>
      <PasswordInput
        label="API key"
        description={`${apiKeyName}. Opens the recordings and past calls of ${label}. It is never shown again.`}
        autoComplete="off"
        maxLength={500}
        {...apiKey}
      />
      <TextInput
        label="API host"
        description={`Only if your ${label} account has a host of its own, as in another region.`}
        autoComplete="off"
        maxLength={200}
        {...host}
      />
    </>
  )
}

/** Shows the address of a source and its new secret, this once. */
export function useShowSecret() {
  const show = useShow()
  return (source: MadeSource, title: string, onStored?: () => void) => {
    const { label, secretName } = setUpOf(source.platform)
    show({
      title,
      size: 600,
      isLocked: true,
      content: (close) => (
        <ShownOnce
          what="secret"
          text={source.secret ?? ''}
          warning={`This is the only time the secret is shown. Give it to ${label}: ${secretName.toLowerCase()}.`}
          before={
            <Labelled label="Address">
              <CodeBlock code={addressOf(source)} label="Copy address" />
            </Labelled>
          }
          onStored={() => {
            close()
            onStored?.()
          }}
        />
      ),
    })
  }
}

/** How often to look for the first event, and for further ones. */
const waitingMs = 2_000
export const watchingMs = 10_000

/** A source, without its secret. */
export function useSource(id: string) {
  const { of } = useProject()
  return useQuery({
    ...read(of.sources({ id })),
    refetchInterval: ({ state }) => (state.data?.lastEventAt ? watchingMs : waitingMs),
  })
}

/** The newest call whose details name the source, and how many there are. `isAwaited` looks for the first more often. */
export function useLastCall(source: string, isAwaited = false) {
  const { of } = useProject()
  return useQuery({
    ...read(of.calls, { source, limit: '1' }),
    refetchInterval: ({ state }) => (isAwaited && !state.data?.data.length ? waitingMs : watchingMs),
  })
}

/** The address that the platform sends to, or the variable that tells it. */
export function addressOf({ id, platform }: Pick<SourceRecord, 'id' | 'platform'>): string {
  const { variable } = setUpOf(platform)
  return variable ? `${variable}=${location.origin}` : `${location.origin}/ingest/from/${id}`
}

/** What the platform sends: the word for one of them. */
export function sentBy(platform: PlatformName): 'event' | 'session' {
  return setUpOf(platform).variable ? 'session' : 'event'
}

/** How a platform is told of the address, in its own words: the same as the guide says. */
export const sourceSteps: Record<PlatformName, readonly string[]> = {
  vapi: [
    'Create a custom credential of type Bearer Token with the secret.',
    'Set the address as the server URL, with that credential, on the organization, a phone number or an assistant (Advanced, Webhook server). Each event goes only to the most specific one.',
    'Keep status-update, conversation-update and end-of-call-report in the server messages.',
    'Set a backoffPlan on the server, so that Vapi retries events that did not arrive.',
  ],
  retell: [
    'Set the address as the webhook URL of the account or of one agent.',
    'To see turns during the call, add the event transcript_updated.',
    'Above, paste the API key that is marked for webhooks.',
  ],
  elevenlabs: [
    'Under Settings, Webhooks, add a webhook with the address and HMAC authentication.',
    'Paste its secret above. ElevenLabs shows it only once.',
    'Select it as the post-call webhook of all agents or of one. Send transcripts (as JSON) and call initiation failures. Leave audio off.',
    'Turn on its retries.',
  ],
  bland: [
    'Set the address as the webhook of the inbound number, under Advanced, and of each call that you start through the API.',
    'Above, paste the webhook signing secret. You find it under Account settings, Keys.',
  ],
  telnyx: [
    'Set the address as the webhook URL of the Voice API or TeXML application.',
    'Above, paste the public key. You find it under Keys & Credentials.',
    'Telnyx sends no transcript, so the calls have none.',
  ],
  ultravox: [
    'Create a webhook with POST /api/webhooks: the address as url, the events call.started, call.joined, call.ended and call.billed, and the secret as one of its secrets.',
    'To record the numbers, put callerNumber and calledNumber into each call’s metadata.',
    'Ultravox sends no transcript with its events. Poll its API for them.',
  ],
  synthflow: [
    "Set the address as the agent's post-call webhook, or as external_webhook_url of a call.",
    'Above, paste the secret from Settings, Security, Webhooks.',
    'Synthflow signs the call’s ID and not the body, so keep the address secret.',
  ],
  cartesia: [
    "Under the agent's Advanced settings, add a post-call webhook with the address.",
    'Paste its secret above.',
  ],
  dograh: [
    'Add a webhook node at the end of the workflow with the address, and the secret as its bearer token.',
    'Use this template as its body.',
  ],
  livekit: [
    'Set the variable for the agent’s process, beside LIVEKIT_API_KEY and LIVEKIT_API_SECRET.',
    'With a LiveKit server of your own, also start the session with record=True.',
    'Agents in Node do not read the variable yet. Use OpenTelemetry for them.',
  ],
}

/** What is pasted into the platform beside the address and the secret. */
export const sourceTemplates: { readonly [Name in PlatformName]?: string } = {
  dograh: JSON.stringify(
    {
      id: '{{workflow_run_id}}',
      agent: '{{workflow_name}}',
      calledAt: '{{call_time}}',
      caller: '{{initial_context.caller_number}}',
      called: '{{initial_context.called_number}}',
      duration: '{{cost_info.call_duration_seconds}}',
      disposition: '{{gathered_context.call_disposition}}',
      analysis: '{{annotations}}',
    },
    null,
    2,
  ),
}

/** Platforms whose agents may ask for knowledge at the address of the source. */
export const answersLookUps: readonly PlatformName[] = ['vapi', 'retell']
