import { Modal } from '@mantine/core'
import { useState } from 'react'
import type { PasswordLink } from '../../../../access/people/invitations.ts'
import type { MemberRow } from '../../../../access/people/members.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Instant } from '../../components/instant.tsx'
import { useProject } from '../../session.ts'
import { MadeLink } from './made-link.tsx'

interface SignInLinkDialogProps {
  /** Who needs a link; null while nobody does. */
  member: MemberRow | null
  onClose: () => void
}

/** Makes a link for somebody who cannot sign in. It is shown once, and only this dialog holds it. */
export function SignInLinkDialog({ member, onClose }: SignInLinkDialogProps) {
  const { id: project } = useProject()
  const [made, setMade] = useState<PasswordLink | null>(null)
  const create = async ({ personId }: MemberRow) =>
    setMade(await unwrap(api.projects({ project }).people({ id: personId })['sign-in-link'].post({})))
  return (
    <>
      <ConfirmDialog
        opened={member !== null}
        onClose={onClose}
        title={`Create a sign-in link for ${member?.name ?? ''}?`}
        confirmLabel="Create link"
        isDanger={false}
        onConfirm={async () => member && create(member)}
      >
        <p>
          Whoever opens it sets a new password for {member?.email} and is signed in, so send it to no one
          else. The current password works until then. If two-factor sign-in is on, it still asks for a code.
        </p>
      </ConfirmDialog>
      <Modal
        opened={made !== null}
        onClose={() => setMade(null)}
        title="Send this link"
        size={480}
        closeOnClickOutside={false}
      >
        {made && (
          <MadeLink link={made.link} onDone={() => setMade(null)}>
            It sets a new password for {made.email}. It works once, expires{' '}
            <Instant at={made.expiresAt} as="absolute" />, and is not shown again.
          </MadeLink>
        )}
      </Modal>
    </>
  )
}
