import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { ProjectSettings } from '../../../../db/project-settings.ts'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { useSettingsChange } from './privacy-queries.ts'
import { SettingPanel } from './setting-panel.tsx'

/** When calls are deleted by themselves. */
export function RetentionPanel({ settings }: { settings: ProjectSettings }) {
  const [days, setDays] = useState(settings.retainDays === null ? '' : String(settings.retainDays))
  const { mutate, isPending, error } = useSettingsChange('The retention has been changed.')
  const wanted = days.trim() === '' ? null : Number(days)
  return (
    <SettingPanel
      title="Retention"
      isChanged={wanted !== settings.retainDays}
      isPending={isPending}
      error={isAboutFields(error, ['retainDays']) ? null : error}
      onSave={() => mutate({ retainDays: wanted })}
    >
      <TextInput
        label="Days to keep a call"
        description="Counted from when the call was completed. Empty keeps calls until somebody deletes them."
        value={days}
        onChange={(event) => setDays(event.currentTarget.value)}
        inputMode="numeric"
        autoComplete="off"
        error={fieldErrors(error).retainDays}
      />
    </SettingPanel>
  )
}
