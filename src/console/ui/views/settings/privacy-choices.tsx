import { Radio, Stack, Switch } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { ProjectSettings } from '../../../../db/project-settings.ts'
import { useSettingsChange } from './privacy-queries.ts'
import { SettingPanel } from './setting-panel.tsx'

interface SettingsProps {
  settings: ProjectSettings
}

interface ChoiceProps<Value> {
  title: string
  /** The setting's name. */
  label: string
  description: ReactNode
  choices: readonly (readonly [Value, string])[]
  current: Value
  /** The message after saving. */
  sentence: string
  changeOf: (value: Value) => Parameters<ReturnType<typeof useSettingsChange>['mutate']>[0]
}

/** How much of the numbers of a call is stored. */
export function KeptNumbersPanel({ settings }: SettingsProps) {
  return (
    <Choice
      title="Phone numbers"
      label="How to store the caller’s and the called number"
      description="Applies to new calls. You cannot search or erase by a number that is not stored."
      choices={[
        ['all', 'In full'],
        ['last4', 'Last four digits only'],
        ['none', 'Not at all'],
      ]}
      current={settings.keepNumbers}
      sentence="Phone number setting saved."
      changeOf={(keepNumbers) => ({ keepNumbers })}
    />
  )
}

/** How long the questions of searches are kept. */
export function KeptQuestionsPanel({ settings }: SettingsProps) {
  return (
    <Choice
      title="Questions"
      label="Keep the questions that agents ask"
      description="Questions show what your knowledge lacks. They may contain what callers said."
      choices={[
        [null, 'Not at all'],
        [7, 'For 7 days'],
        [30, 'For 30 days'],
      ]}
      current={settings.keepQuestionsDays}
      sentence="Question setting saved."
      changeOf={(keepQuestionsDays) => ({ keepQuestionsDays })}
    />
  )
}

/** How long a live call may be silent before it is completed. */
export function SilencePanel({ settings }: SettingsProps) {
  const { endSilentAfter } = settings
  const offered = [
    ['1h', 'After 1 hour'],
    ['24h', 'After 24 hours'],
    ['7d', 'After 7 days'],
    [null, 'Never'],
  ] as const
  const isOffered = offered.some(([choice]) => choice === endSilentAfter)
  return (
    <Choice<string | null>
      title="Silent calls"
      label="Complete a live call when nothing is heard of it"
      description="For calls whose end was never reported. They get the ended reason “silence”, which any later event replaces."
      // The command line accepts other times.
      choices={isOffered ? offered : [[endSilentAfter, `After ${endSilentAfter}`], ...offered]}
      current={endSilentAfter}
      sentence="Silent call setting saved."
      changeOf={(after) => ({ endSilentAfter: after })}
    />
  )
}

/** Whether the audit trail records who opened calls. */
export function ReadingPanel({ settings }: SettingsProps) {
  const [notesReading, setNotesReading] = useState(settings.notesReading)
  const { mutate, isPending, error } = useSettingsChange('Access logging setting saved.')
  return (
    <SettingPanel
      title="Access logging"
      isChanged={notesReading !== settings.notesReading}
      isPending={isPending}
      error={error}
      onSave={() => mutate({ notesReading })}
    >
      <Switch
        label="Record in the audit trail who opens or exports calls"
        description="Includes exports with API keys, but not single calls read with one. Repeats within 15 minutes are recorded once."
        checked={notesReading}
        onChange={(event) => setNotesReading(event.currentTarget.checked)}
      />
    </SettingPanel>
  )
}

function Choice<Value extends string | number | null>({
  title,
  label,
  description,
  choices,
  current,
  sentence,
  changeOf,
}: ChoiceProps<Value>) {
  const [chosen, setChosen] = useState(String(current))
  const { mutate, isPending, error } = useSettingsChange(sentence)
  const value = choices.find(([choice]) => String(choice) === chosen)?.[0]
  return (
    <SettingPanel
      title={title}
      isChanged={value !== undefined && value !== current}
      isPending={isPending}
      error={error}
      onSave={() => value !== undefined && mutate(changeOf(value))}
    >
      <Radio.Group label={label} description={description} value={chosen} onChange={setChosen}>
        <Stack gap="xs" mt="xs">
          {choices.map(([choice, words]) => (
            <Radio key={String(choice)} value={String(choice)} size="xs" label={words} />
          ))}
        </Stack>
      </Radio.Group>
    </SettingPanel>
  )
}
