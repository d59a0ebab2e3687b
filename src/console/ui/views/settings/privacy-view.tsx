import {
  Checkbox,
  Kbd,
  Radio,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { ProjectSettings } from '../../../../db/project-settings.ts'
import { read, unwrap } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { useConfirm } from '../../components/dialogs.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { asBytes, counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Facts, Loaded, Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { useOpenCaller } from '../callers/caller-link.tsx'
import { HoldsPanel } from '../calls/holds.tsx'

const refetchInterval = 15_000

interface SettingsProps {
  settings: ProjectSettings
}

type Change = Partial<{ -readonly [Name in keyof ProjectSettings]: ProjectSettings[Name] }>

/** How the project keeps personal data, and what deletes it. Each setting is saved as it is changed. */
export function PrivacyView() {
  const settings = useQuery(read(useProject().of.settings))
  return (
    <Page
      title="Privacy"
      description="What Callbook keeps about the people in your calls, and for how long. Each change is saved at once, and recorded in the audit trail."
    >
      <Loaded query={settings} what="The settings">
        {(data) => (
          <Stack gap="lg" maw={720}>
            <PersonPanel />
            <HoldsPanel />
            <RetentionPanel settings={data} />
            <RecordingsPanel settings={data} />
            <SilencePanel settings={data} />
            <RedactionPanel settings={data} />
            <Choice
              settings={data}
              name="keepNumbers"
              title="Phone numbers"
              says="Phone number setting saved."
              label="How to store the caller’s and the called number"
              description="Applies to new calls. You cannot search or erase by a number that is not stored."
              choices={[
                ['all', 'In full'],
                ['last4', 'Last four digits only'],
                ['none', 'Not at all'],
              ]}
            />
            <QuestionsPanel settings={data} />
            <ReadingPanel settings={data} />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

/** Saves some of the settings. `current` has what is being saved, so that a choice shows at once. */
function useSetting(settings: ProjectSettings, says: string) {
  const { of } = useProject()
  const { mutate, variables, isPending, error } = useAct({
    send: (change: Change) => of.settings.put(change),
    changes: of.settings,
    says,
  })
  return { save: mutate, error, current: isPending ? { ...settings, ...variables } : settings }
}

/** Opens the page of a person, where their calls are exported, held and erased. */
function PersonPanel() {
  const form = useApiForm({
    first: { number: '' },
    needs: ['number'],
    body: ({ number }) => ({ number: number.trim() }),
    ...useOpenCaller(),
  })
  return (
    <Panel title="A person’s data" aside={<PageLink {...to.receipts}>Erasure receipts</PageLink>}>
      <ApiForm form={form} label="Open the person">
        <TextInput
          label="Phone number"
          description="The full number. You see all calls from it and to it, and can export them, put them on hold or erase them."
          type="tel"
          {...form.field('number')}
        />
      </ApiForm>
    </Panel>
  )
}

/** When calls are deleted by themselves, which go next, and which went. */
function RetentionPanel({ settings }: SettingsProps) {
  const { of } = useProject()
  const ask = useConfirm()
  const { retainDays } = settings
  const says = 'Retention saved.'
  const { mutate, error } = useAct({
    send: async (days: number | null) => {
      const isShorter = days !== null && (retainDays === null || days < retainDays)
      const due = isShorter ? await unwrap(of.settings.due.get({ query: { days: String(days) } })) : null
      if (days === null || !due || due.calls === 0) return await of.settings.put({ retainDays: days })
      const { calls } = due
      ask({
        title: `Delete ${counted(calls, 'call')} now?`,
        verb: `Delete ${counted(calls, 'call')}`,
        word: String(calls),
        text: `${counted(calls, 'call')} of this project were completed more than ${days} days ago. They will be deleted within minutes. After that, calls that reach this age are deleted daily. This cannot be undone.`,
        send: () => of.settings.put({ retainDays: days, confirm: calls }),
        changes: of.settings,
        says,
      })
      return { data: null, error: null }
    },
    changes: of.settings,
    done: (saved) => saved && notifications.show({ message: says }),
  })
  return (
    <Panel title="Retention">
      <div className="cb-stack">
        <DaysField
          label="Days to keep calls"
          description="Counted from when the call was completed. Live calls are never deleted. Leave empty to keep calls until someone deletes them."
          stored={retainDays}
          failure={error}
          names={['retainDays', 'days']}
          onSave={mutate}
        />
        <Deletions retainDays={retainDays} />
      </div>
    </Panel>
  )
}

function Deletions({ retainDays }: Pick<ProjectSettings, 'retainDays'>) {
  const { of } = useProject()
  const { data: due } = useQuery({ ...read(of.settings.due, {}), refetchInterval })
  const query = { action: 'calls_expired', limit: '5' }
  const rows = useQuery({ ...read(of.audit, query), refetchInterval }).data?.data ?? []
  return (
    <Facts
      of={{
        'Due for deletion': retainDays !== null && (due ? `${counted(due.calls, 'call')} as of now` : '…'),
        'Deleted so far':
          rows.length === 0 ? (
            <span className="cb-dimmed">None</span>
          ) : (
            <>
              {rows.map(({ id, at, target }) => (
                <div key={id}>
                  <Instant at={at} as="absolute" />: {target}
                </div>
              ))}
              <PageLink {...to.audit} search={{ action: 'calls_expired' }}>
                View all in the audit trail
              </PageLink>
            </>
          ),
      }}
    />
  )
}

/** Whether recordings are fetched, for how long they are kept, and how much room they take. */
function RecordingsPanel({ settings }: SettingsProps) {
  const { data: usage } = useQuery(read(useProject().of.settings.recordings))
  const { save, current, error } = useSetting(settings, 'Recordings saved.')
  const isRedacting = settings.redact.length > 0
  const onSwitch = isRedacting ? 'mute' : 'keep'
  return (
    <Panel title="Recordings">
      <div className="cb-stack">
        <Switch
          label="Keep the recordings that platforms make"
          description="Fetches each from its platform as soon as the call has ended."
          checked={current.recordings !== 'off'}
          onChange={(event) => save({ recordings: event.currentTarget.checked ? onSwitch : 'off' })}
        />
        <Checkbox
          label="Silence the turns in which something is redacted"
          description={
            isRedacting
              ? 'In both channels, before anybody can hear the recording. Turns with a mark such as [card] are silent; what the transcript misheard has no mark and stays audible. A recording that cannot be silenced, such as one with a single channel, is not kept.'
              : 'First choose what is redacted, under Redaction below.'
          }
          size="xs"
          disabled={!isRedacting || current.recordings === 'off'}
          checked={current.recordings === 'mute'}
          onChange={(event) => save({ recordings: event.currentTarget.checked ? 'mute' : 'keep' })}
        />
        <DaysField
          label="Days to keep recordings"
          description="Counted from when the call was completed. Only the recording is deleted, the call stays. Leave empty to keep recordings as long as calls."
          stored={settings.recordingRetainDays}
          failure={error}
          names={['recordingRetainDays']}
          onSave={(days) => save({ recordingRetainDays: days })}
        />
        <p className="cb-dimmed">
          {usage ? `${counted(usage.recordings, 'recording')}, ${asBytes(usage.bytes)}` : '…'}
        </p>
      </div>
    </Panel>
  )
}

const silences = [
  ['1h', 'After 1 hour'],
  ['24h', 'After 24 hours'],
  ['7d', 'After 7 days'],
  [null, 'Never'],
] as const

/** How long a live call may be silent before it is completed. */
function SilencePanel({ settings }: SettingsProps) {
  const { endSilentAfter: stored } = settings
  const isOffered = silences.some(([choice]) => choice === stored)
  return (
    <Choice
      settings={settings}
      name="endSilentAfter"
      title="Silent calls"
      says="Silent call setting saved."
      label="Complete a live call when nothing is heard of it"
      description="For calls whose end was never reported. They get the ended reason “silence”, which any later event replaces."
      // The command line accepts other times.
      choices={isOffered ? silences : [[stored, `After ${stored}`], ...silences]}
    />
  )
}

const redactions = {
  phone: 'Phone numbers',
  email: 'Email addresses',
  card: 'Card numbers',
  iban: 'IBANs',
  ssn: 'US Social Security numbers',
} as const satisfies Record<ProjectSettings['redact'][number], string>
const kinds = Object.keys(redactions) as (keyof typeof redactions)[]

/** What is replaced before anything of a call is written, and how national numbers read. */
function RedactionPanel({ settings }: SettingsProps) {
  const { save, current, error } = useSetting(settings, 'Redaction saved.')
  return (
    <Panel title="Redaction">
      <div className="cb-stack">
        <Checkbox.Group
          label="Replace before a call is stored"
          description="Applies to the transcript, the summary, and the text in the analysis, timeline and metadata. Stored calls stay as they are."
          value={[...current.redact]}
          onChange={(chosen) => {
            // What is redacted decides what is silent in recordings.
            const mutesNothing = chosen.length === 0 && current.recordings === 'mute'
            save({
              redact: kinds.filter((kind) => chosen.includes(kind)),
              ...(mutesNothing && { recordings: 'off' as const }),
            })
          }}
        >
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" mt="xs">
            {kinds.map((kind) => (
              <Checkbox
                key={kind}
                value={kind}
                size="xs"
                label={redactions[kind]}
                description={<span className="cb-mono">[{kind}]</span>}
              />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
        <SavedField
          label="Country"
          description="Two letters, such as US. Numbers without a country code are read as numbers from this country."
          stored={settings.country ?? ''}
          maxLength={2}
          error={fieldErrors(error).country}
          onSave={(country) => save({ country: country || null })}
        />
        {error && !fieldErrors(error).country && <Problem error={error} />}
      </div>
    </Panel>
  )
}

/** How long the questions of searches are kept. A link to `#questions` leads here. */
function QuestionsPanel({ settings }: SettingsProps) {
  const isLinked = useLocation({ select: ({ hash }) => hash === 'questions' })
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isLinked) place.current?.querySelector<HTMLElement>(':checked')?.focus()
  }, [isLinked])
  return (
    <div ref={place}>
      <Choice
        settings={settings}
        name="keepQuestionsDays"
        title="Questions"
        says="Question setting saved."
        label="Keep the questions that agents ask"
        description="Questions show what your knowledge lacks. They may contain what callers said."
        choices={[
          [null, 'Not at all'],
          [7, 'For 7 days'],
          [30, 'For 30 days'],
        ]}
      />
    </div>
  )
}

/** Whether the audit trail records who opened calls. */
function ReadingPanel({ settings }: SettingsProps) {
  const { save, current, error } = useSetting(settings, 'Access logging setting saved.')
  return (
    <Panel title="Access logging">
      <Switch
        label="Record in the audit trail who opens or exports calls"
        description="Includes exports with API keys, but not single calls read with one. Repeats within 15 minutes are recorded once."
        checked={current.notesReading}
        onChange={(event) => save({ notesReading: event.currentTarget.checked })}
      />
      {error && <Problem error={error} />}
    </Panel>
  )
}

interface ChoiceProps<Name extends keyof ProjectSettings> extends SettingsProps {
  name: Name
  title: string
  /** The notification when it is saved. */
  says: string
  label: string
  description: string
  choices: readonly (readonly [ProjectSettings[Name], string])[]
}

/** A select for a setting that has a few values. */
function Choice<Name extends keyof ProjectSettings>(props: ChoiceProps<Name>) {
  const { settings, name, title, says, label, description, choices } = props
  const { save, current, error } = useSetting(settings, says)
  const choose = (text: string) => {
    const chosen = choices.find(([choice]) => String(choice) === text)
    if (chosen) save({ [name]: chosen[0] })
  }
  return (
    <Panel title={title}>
      <Radio.Group label={label} description={description} value={String(current[name])} onChange={choose}>
        <Stack gap="xs" mt="xs">
          {choices.map(([choice, words]) => (
            <Radio key={String(choice)} value={String(choice)} size="xs" label={words} />
          ))}
        </Stack>
      </Radio.Group>
      {error && <Problem error={error} />}
    </Panel>
  )
}

interface DaysFieldProps extends Pick<TextInputProps, 'label' | 'description'> {
  stored: number | null
  failure: unknown
  /** What the API calls it. */
  names: readonly string[]
  onSave: (days: number | null) => void
}

function DaysField({ stored, failure, names, onSave, ...field }: DaysFieldProps) {
  const [isNumber, setIsNumber] = useState(true)
  const errors = fieldErrors(failure)
  const fault = names.map((name) => errors[name]).find((text) => text !== undefined)
  const save = (text: string) => {
    setIsNumber(/^\d*$/.test(text))
    if (/^\d*$/.test(text)) onSave(text === '' ? null : Number(text))
  }
  return (
    <>
      <SavedField
        {...field}
        stored={stored === null ? '' : String(stored)}
        inputMode="numeric"
        error={isNumber ? fault : 'Enter a whole number of days'}
        onSave={save}
      />
      {Boolean(failure) && fault === undefined && <Problem error={failure} />}
    </>
  )
}

interface SavedFieldProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  stored: string
  onSave: (text: string) => void
}

/** A text that is saved by Enter, or when the field is left. */
function SavedField({ stored, onSave, ...field }: SavedFieldProps) {
  const [text, setText] = useState(stored)
  const [before, setBefore] = useState(stored)
  const lastSent = useRef(stored)
  if (stored !== before) {
    setBefore(stored)
    setText(stored)
  }
  const wanted = text.trim()
  const save = () => {
    if (wanted === stored) return
    lastSent.current = wanted
    onSave(wanted)
  }
  return (
    <TextInput
      {...field}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Enter' && save()}
      // Only once: a dialog may have asked about it.
      onBlur={() => wanted !== lastSent.current && save()}
      autoComplete="off"
      rightSection={wanted !== stored && <Kbd size="xs">Enter</Kbd>}
      rightSectionWidth={56}
    />
  )
}
