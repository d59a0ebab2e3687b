import { Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ProjectSettings } from '../../../../db/project-settings.ts'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { asBytes, counted } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import { recordingUsageQuery, useSettingsChange } from './privacy-queries.ts'
import { SettingPanel } from './setting-panel.tsx'

/** Whether recordings are fetched, for how long they are kept, and how much room they take. */
export function RecordingsPanel({ settings }: { settings: ProjectSettings }) {
  const { id: project } = useProject()
  const { data: usage } = useQuery(recordingUsageQuery(project))
  const kept = settings.recordingRetainDays
  const [isKept, setIsKept] = useState(settings.recordings === 'keep')
  const [days, setDays] = useState(kept === null ? '' : String(kept))
  const { mutate, isPending, error } = useSettingsChange('Recordings saved.')
  const wanted = days.trim() === '' ? null : Number(days)
  const recordings = isKept ? 'keep' : 'off'
  return (
    <SettingPanel
      title="Recordings"
      isChanged={recordings !== settings.recordings || wanted !== kept}
      isPending={isPending}
      error={isAboutFields(error, ['recordingRetainDays']) ? null : error}
      onSave={() => mutate({ recordings, recordingRetainDays: wanted })}
      footer={
        <p className="cb-dimmed">
          {usage ? `${counted(usage.recordings, 'recording')}, ${asBytes(usage.bytes)}` : '…'}
        </p>
      }
    >
      <Switch
        label="Keep the recordings that platforms make"
        description="Fetches each from its platform as soon as the call has ended. Sound is not redacted."
        checked={isKept}
        onChange={(event) => setIsKept(event.currentTarget.checked)}
      />
      <TextInput
        label="Days to keep recordings"
        description="Counted from when the call was completed. Only the recording is deleted, the call stays. Leave empty to keep recordings as long as calls."
        value={days}
        onChange={(event) => setDays(event.currentTarget.value)}
        inputMode="numeric"
        autoComplete="off"
        error={fieldErrors(error).recordingRetainDays}
      />
    </SettingPanel>
  )
}
