import { Modal, Radio } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { CreatedInvitation } from '../../../../access/people/invitations.ts'
import type { Role } from '../../../../identity.ts'
import { api, unwrap } from '../../api.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { Instant } from '../../components/instant.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import { MadeLink } from './made-link.tsx'
import { describeRole, peopleQuery, roleChoices, roleLabels } from './people.ts'
import classes from './settings.module.css'
import { useSecretRequest } from './use-secret-request.ts'

interface InviteDialogProps {
  opened: boolean
  onClose: () => void
}

/** Creates a one-time invitation link. It is shown once, and only this dialog holds it. */
export function InviteDialog({ opened, onClose }: InviteDialogProps) {
  const { name } = useProject()
  const [made, setMade] = useState<CreatedInvitation | null>(null)
  const finish = () => {
    setMade(null)
    onClose()
  }
  return (
    <Modal
      opened={opened}
      onClose={finish}
      title={made ? 'Send this link' : `Invite to ${name}`}
      size={480}
      closeOnClickOutside={!made}
    >
      {made ? (
        <MadeLink link={made.link} onDone={finish}>
          The first person to use this link joins as {made.role === 'owner' ? 'an owner' : `a ${made.role}`}.
          It expires <Instant at={made.expiresAt} as="absolute" /> and is not shown again.
        </MadeLink>
      ) : (
        opened && <InviteForm onMade={setMade} onCancel={finish} />
      )}
    </Modal>
  )
}

interface InviteFormProps {
  onMade: (invitation: CreatedInvitation) => void
  onCancel: () => void
}

function InviteForm({ onMade, onCancel }: InviteFormProps) {
  const { id: project, membersMayDelete } = useProject()
  const queryClient = useQueryClient()
  const [role, setRole] = useState<Role>('member')
  const { request, isPending, error } = useSecretRequest(async () => {
    onMade(await unwrap(api.projects({ project }).invitations.post({ role })))
    void queryClient.invalidateQueries(peopleQuery(project))
  })
  return (
    <ActionForm label="Create link" isPending={isPending} onSubmit={request} onCancel={onCancel}>
      <Radio.Group
        label="Role"
        value={role}
        onChange={(value) => setRole(roleChoices.find((choice) => choice === value) ?? 'member')}
      >
        <div className={`${classes.choices} ${classes.choicesRows}`}>
          {roleChoices.map((value) => (
            <Radio.Card key={value} value={value} className={classes.choice}>
              <Radio.Indicator size="xs" />
              <span>
                <strong>{roleLabels[value]}</strong>
                <span className="cb-dimmed">{describeRole(value, membersMayDelete)}</span>
              </span>
            </Radio.Card>
          ))}
        </div>
      </Radio.Group>
      {error !== null && <Problem error={error} />}
    </ActionForm>
  )
}
