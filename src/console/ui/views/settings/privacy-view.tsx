import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import { HoldsPanel } from '../calls/holds.tsx'
import { ErasePanel } from './erase-panel.tsx'
import { KeptNumbersPanel, KeptQuestionsPanel, ReadingPanel, SilencePanel } from './privacy-choices.tsx'
import { settingsQuery } from './privacy-queries.ts'
import { RecordingsPanel } from './recordings-panel.tsx'
import { RedactionPanel } from './redaction-panel.tsx'
import { RetentionPanel } from './retention-panel.tsx'

/** How the project keeps personal data, and what deletes it. */
export function PrivacyView() {
  const { id: project } = useProject()
  const { data: settings, error, refetch } = useQuery(settingsQuery(project))
  return (
    <>
      <PageHeader
        title="Privacy"
        description="What Callbook keeps about the people in your calls, and for how long. The audit trail records every change."
      />
      {error && !settings && (
        <Problem error={error} title="The settings could not be loaded" onRetry={() => void refetch()} />
      )}
      {settings && (
        <Stack gap="lg" maw={720}>
          <ErasePanel />
          <HoldsPanel />
          <RetentionPanel settings={settings} />
          <RecordingsPanel settings={settings} />
          <SilencePanel settings={settings} />
          <RedactionPanel settings={settings} />
          <KeptNumbersPanel settings={settings} />
          <KeptQuestionsPanel settings={settings} />
          <ReadingPanel settings={settings} />
        </Stack>
      )}
    </>
  )
}
