import { Button, Group, Loader, Paper, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconClock } from '@tabler/icons-react'
import { PageLink } from '../../components/links.tsx'
import type { Upload } from './use-uploads.ts'

interface UploadListProps {
  project: string
  uploads: readonly Upload[]
  onClear: () => void
}

/** The outcome of each dropped file. */
export function UploadList({ project, uploads, onClear }: UploadListProps) {
  if (uploads.length === 0) return null
  const done = uploads.filter(({ state }) => state === 'saved' || state === 'failed').length
  const failed = uploads.filter(({ state }) => state === 'failed').length
  const isDone = done === uploads.length
  // Failed uploads come first, so that they are visible without scrolling.
  const failedFirst = uploads.toSorted((a, b) => Number(b.state === 'failed') - Number(a.state === 'failed'))
  return (
    <Paper withBorder p="sm" role="status" aria-live="polite" aria-label="Import">
      <Group justify="space-between" mb="xs">
        <Text fw={600}>
          {isDone ? 'Imported' : 'Importing'} {done - failed} of {uploads.length}
          {failed > 0 && `, ${failed} failed`}
        </Text>
        <Button size="compact-xs" variant="subtle" color="gray" onClick={onClear} disabled={!isDone}>
          Close
        </Button>
      </Group>
      <Stack gap={4} mah={220} style={{ overflowY: 'auto' }}>
        {failedFirst.map((upload) => (
          <Group key={upload.key} gap="xs" wrap="nowrap" align="flex-start">
            <UploadIcon state={upload.state} />
            <div style={{ minWidth: 0 }}>
              {upload.itemId ? (
                <PageLink
                  to="/p/$project/knowledge/$item"
                  params={{ project, item: upload.itemId }}
                  size="sm"
                >
                  {upload.fileName}
                </PageLink>
              ) : (
                <Text size="sm" truncate>
                  {upload.fileName}
                </Text>
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
    case 'saved':
      return <IconCircleCheck {...shared} color="var(--cb-success)" aria-label="Saved" />
    case 'failed':
      return <IconAlertTriangle {...shared} color="var(--cb-danger)" aria-label="Failed" />
  }
}
