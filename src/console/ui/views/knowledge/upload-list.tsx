import { Button, Group, Loader, Paper, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconClock, IconCopy } from '@tabler/icons-react'
import { PageLink } from '../../components/links.tsx'
import type { TwinAnswer } from './documents.ts'
import { TwinChoice } from './twin-choice.tsx'
import type { Upload } from './use-uploads.ts'

interface UploadListProps {
  project: string
  uploads: readonly Upload[]
  onAnswer: (upload: Upload, twin: TwinAnswer) => void
  onClear: () => void
}

/** The outcome of each dropped file. */
export function UploadList({ project, uploads, onAnswer, onClear }: UploadListProps) {
  if (uploads.length === 0) return null
  const countOf = (wanted: Upload['state']) => uploads.filter(({ state }) => state === wanted).length
  const [saved, failed, asked] = [countOf('saved'), countOf('failed'), countOf('asked')]
  const isDone = saved + failed + asked === uploads.length
  // Those that need somebody come first, so that they are visible without scrolling.
  const rank = ({ state }: Upload) => Number(state === 'failed') + Number(state === 'asked') * 2
  const urgentFirst = uploads.toSorted((a, b) => rank(b) - rank(a))
  return (
    <Paper withBorder p="sm" role="status" aria-live="polite" aria-label="Import">
      <Group justify="space-between" mb="xs">
        <Text fw={600}>
          {isDone ? 'Imported' : 'Importing'} {saved} of {uploads.length}
          {failed > 0 && `, ${failed} failed`}
          {asked > 0 && `, ${asked} to decide`}
        </Text>
        <Button size="compact-xs" variant="subtle" color="gray" onClick={onClear} disabled={!isDone}>
          Close
        </Button>
      </Group>
      <Stack gap={4} mah={220} style={{ overflowY: 'auto' }}>
        {urgentFirst.map((upload) => (
          <Group key={upload.key} gap="xs" wrap="nowrap" align="flex-start">
            <UploadIcon state={upload.state} />
            <div style={{ minWidth: 0 }}>
              {upload.itemId ? (
                <PageLink
                  to="/p/$project/knowledge/$item"
                  params={{ project, item: upload.itemId }}
                  size="sm"
                  dir="auto"
                >
                  {upload.fileName}
                </PageLink>
              ) : (
                <Text size="sm" truncate dir="auto">
                  {upload.fileName}
                </Text>
              )}
              {upload.asked && (
                <TwinChoice
                  project={project}
                  twin={upload.asked.twin}
                  name={upload.asked.document.name}
                  onReplace={() => upload.asked && onAnswer(upload, upload.asked.twin)}
                  onKeep={() => onAnswer(upload, 'keep')}
                />
              )}
              {upload.error && (
                <Text size="xs" c="var(--cb-danger-text)">
                  {upload.error}
                </Text>
              )}
            </div>
          </Group>
        ))}
      </Stack>
    </Paper>
  )
}

function UploadIcon({ state }: { state: Upload['state'] }) {
  const shared = { size: 16, style: { flex: 'none', marginTop: 2 } }
  switch (state) {
    case 'waiting':
      return <IconClock {...shared} aria-label="Waiting" />
    case 'saving':
      return <Loader size={16} aria-label="Saving" />
    case 'asked':
      return <IconCopy {...shared} color="var(--cb-warning)" aria-label="Same text" />
    case 'saved':
      return <IconCircleCheck {...shared} color="var(--cb-success)" aria-label="Saved" />
    case 'failed':
      return <IconAlertTriangle {...shared} color="var(--cb-danger)" aria-label="Failed" />
  }
}
