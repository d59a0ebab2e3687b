import { Text } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconLoader2 } from '@tabler/icons-react'
import type { IndexStatus as Status, Writer } from '../../../../knowledge/indexed-items.ts'
import { Instant } from '../../components/instant.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'

interface IndexStatusProps {
  status: Status
  chunks: number
}

/** How far an item is indexed: ready, in progress, or waiting, with the reason and the next attempt. */
export function IndexStatus({ status, chunks }: IndexStatusProps) {
  if (status.state === 'ready') {
    return (
      <StatusBadge tone="success" icon={<IconCheck size={12} />}>
        Ready
      </StatusBadge>
    )
  }
  const progress = `${status.ready}/${chunks}`
  if (status.state === 'indexing') {
    return (
      <StatusBadge tone="accent" icon={<IconLoader2 size={12} />}>
        Indexing {progress}
      </StatusBadge>
    )
  }
  return (
    <>
      <StatusBadge tone="warning" icon={<IconAlertTriangle size={12} />}>
        Waiting {progress}
      </StatusBadge>
      <Text size="xs" c="dimmed" lineClamp={2} mt={2}>
        {status.reason}{' '}
        {status.nextTryAt ? (
          <>
            Next attempt <Instant at={status.nextTryAt} as="coming" />.
          </>
        ) : (
          'The next attempt starts now.'
        )}
      </Text>
    </>
  )
}

/** Who wrote an item last. */
export function WriterName({ writer }: { writer: Writer | null }) {
  if (writer === null) return 'the command line'
  if (writer.name === null) return writer.isKey ? 'a deleted key' : 'a deleted person'
  return (
    <>
      {writer.isKey && 'key '}
      <bdi>{writer.name}</bdi>
    </>
  )
}
