import { Select } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { sessionQuery, useProject } from '../../session.ts'
import { useSettingsChange } from './privacy-queries.ts'
import { SettingPanel } from './setting-panel.tsx'

/** Sets the time zone in which the project's pages show days and times. */
export function TimeZonePanel() {
  const { timeZone } = useProject()
  const [chosen, setChosen] = useState(timeZone)
  const queryClient = useQueryClient()
  const { mutate, isPending, error } = useSettingsChange('The time zone has been changed.')
  const known = [...new Set([...(timeZone ? [timeZone] : []), 'UTC', ...Intl.supportedValuesOf('timeZone')])]
  return (
    <SettingPanel
      title="Time zone"
      isChanged={chosen !== timeZone}
      isPending={isPending}
      error={isAboutFields(error, ['timeZone']) ? null : error}
      onSave={() =>
        mutate({ timeZone: chosen }, { onSuccess: () => queryClient.invalidateQueries(sessionQuery) })
      }
    >
      <Select
        label="Time zone of the project"
        description="Everyone sees this project’s days and times in this zone. Without one, each person sees their own."
        placeholder="Each person’s own"
        searchable
        clearable
        limit={50}
        nothingFoundMessage="No time zone has this in its name"
        value={chosen}
        data={known}
        onChange={setChosen}
        error={fieldErrors(error).timeZone}
      />
    </SettingPanel>
  )
}
