import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { SecretModal } from '../../components/shown-once.tsx'
import { useProject } from '../../session.ts'
import { webhooksQuery } from './webhook-queries.ts'
import { WebhookSecret } from './webhook-secret.tsx'

/** Makes a new secret and shows it once. */
export function RotateDialog({ webhook, onClose }: { webhook: WebhookRecord | null; onClose: () => void }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const [secret, setSecret] = useState<string | null>(null)
  const finish = () => setSecret(null)
  const rotate = async ({ id }: WebhookRecord) => {
    const made = await unwrap(api.projects({ project }).webhooks({ id }).rotate.post({}))
    setSecret(made.secret)
    await queryClient.invalidateQueries(webhooksQuery(project))
  }
  return (
    <>
      <ConfirmDialog
        opened={webhook !== null}
        onClose={onClose}
        title="Rotate the secret?"
        confirmLabel="Rotate secret"
        onConfirm={async () => {
          if (webhook) await rotate(webhook)
        }}
      >
        <p>
          You get a new secret. For 24 hours events are signed with both, so that your endpoint can change
          over.
        </p>
      </ConfirmDialog>
      <SecretModal opened={secret !== null} onClose={finish} title="Save the secret">
        {secret !== null && (
          <WebhookSecret secret={secret} note="The old one signs for 24 hours more." onStored={finish} />
        )}
      </SecretModal>
    </>
  )
}
