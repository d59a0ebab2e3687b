import { notifications } from '@mantine/notifications'
import { IconCheck } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import type { KeyRecord } from '../../../../access/keys/key-record.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Mono } from '../../components/mono.tsx'
import { useProject } from '../../session.ts'
import { keysQuery } from './key-queries.ts'

/** Asks before a key stops working for good. */
export function RevokeKeyDialog({ revoking, onClose }: { revoking: KeyRecord | null; onClose: () => void }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const revoke = async (key: KeyRecord) => {
    await unwrap(api.projects({ project }).keys({ id: key.id }).delete())
    await queryClient.invalidateQueries(keysQuery(project))
    notifications.show({
      message: `${key.name} revoked.`,
      icon: <IconCheck size={16} />,
    })
  }
  return (
    <ConfirmDialog
      opened={revoking !== null}
      onClose={onClose}
      title={`Revoke ${revoking?.name ?? 'the key'}?`}
      confirmLabel="Revoke key"
      onConfirm={async () => revoking && revoke(revoking)}
    >
      <p>
        Requests with <Mono>{revoking?.hint}</Mono> will be refused at once. A revoked key cannot be restored.
        If something still needs it, create a new key first.
      </p>
    </ConfirmDialog>
  )
}
