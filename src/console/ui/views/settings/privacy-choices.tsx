import { Radio, Switch } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { ProjectSettings } from '../../../../db/project-settings.ts'
import { useSettingsChange } from './privacy-queries.ts'
import { SettingPanel } from './setting-panel.tsx'

interface SettingsProps {
  settings: ProjectSettings
}

interface ChoiceProps<Value> {
  title: string
  /** What the choice is about. */
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
      label="Store the caller's and the called number"
      description="Of calls that come in from now on. A number that is not stored cannot be searched for, nor erased by."
      choices={[
        ['all', 'As they come in'],
        ['last4', 'Only their last four digits'],
        ['none', 'Not at all'],
      ]}
      current={settings.keepNumbers}
      sentence="What is stored of numbers has been changed."
      changeOf={(keepNumbers) => ({ keepNumbers })}
    />
  )
}

/** How long the questions of searches are kept. */
export function KeptQuestionsPanel({ settings }: SettingsProps) {
  return (
    <Choice
      title="Questions"
      label="Keep what agents ask the knowledge"
      description="Questions show what the knowledge lacks. They may hold what callers said."
      choices={[
        [null, 'Not at all'],
        [7, 'For 7 days'],
        [30, 'For 30 days'],
      ]}
      current={settings.keepQuestionsDays}
      sentence="What is kept of questions has been changed."
      changeOf={(keepQuestionsDays) => ({ keepQuestionsDays })}
    />
  )
}

/** Whether the audit trail says who looked. */
export function ReadingPanel({ settings }: SettingsProps) {
  const [notesReading, setNotesReading] = useState(settings.notesReading)
  const { mutate, isPending, error } = useSettingsChange('The noting of reading has been changed.')
  return (
    <SettingPanel
      title="Who looked"
      isChanged={notesReading !== settings.notesReading}
      isPending={isPending}
      error={error}
      onSave={() => mutate({ notesReading })}
    >
      <Switch
        label="Note in the audit trail who opens a call or exports calls"
        description="Exports with API keys, too; single calls that are read with one are not. The same is noted once in 15 minutes."
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
        <div className="cb-radios">
          {choices.map(([choice, words]) => (
            <Radio key={String(choice)} value={String(choice)} size="xs" label={words} />
          ))}
        </div>
      </Radio.Group>
    </SettingPanel>
  )
}
