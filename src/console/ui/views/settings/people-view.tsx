import { ActionIcon, Button } from '@mantine/core'
import { IconLink, IconTrash, IconUserPlus, IconX } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { InvitationRow } from '../../../../access/people/invitations.ts'
import type { MemberRow } from '../../../../access/people/members.ts'
import { api, unwrap } from '../../api.ts'
import { Avatar } from '../../components/avatar.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { useOwnsConsole, usePerson, useProject, useProvider } from '../../session.ts'
import { Accounts } from './accounts.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { OwnersOnly } from './owners-only.tsx'
import { peopleQuery, roleLabels } from './people.ts'
import { RoleSelect } from './role-select.tsx'
import { Roles } from './roles.tsx'
import classes from './settings.module.css'
import { SignInLinkDialog } from './sign-in-link-dialog.tsx'

/** The project's members, their roles, and its open invitations. */
export function PeopleView() {
  return (
    <OwnersOnly title="People">
      <People />
    </OwnersOnly>
  )
}

function People() {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(peopleQuery(project))
  const [isInviting, setInviting] = useState(false)
  const [leaving, setLeaving] = useState<MemberRow | null>(null)
  const [lockedOut, setLockedOut] = useState<MemberRow | null>(null)
  const [revoked, setRevoked] = useState<InvitationRow | null>(null)
  const person = usePerson()
  const ownsConsole = useOwnsConsole()
  const provider = useProvider()
  return (
    <>
      <PageHeader
        title="People"
        description="Who can see and change this project."
        action={
          <Button leftSection={<IconUserPlus size={16} />} onClick={() => setInviting(true)}>
            Invite
          </Button>
        }
      />
      {error && !data ? (
        <Problem error={error} title="The people could not be loaded" onRetry={() => void refetch()} />
      ) : (
        <ListTable
          label="Members"
          columns={memberColumns(person.id, setLeaving, setLockedOut).filter(
            // Nobody signs in by such a link where passwords are not accepted.
            ({ key }) => key !== 'link' || !provider?.isOnly,
          )}
          rows={data?.members}
          rowKey={({ personId }) => personId}
          expectedRows={3}
        />
      )}
      {data && data.invitations.length > 0 && (
        <section className={classes.section}>
          <h2>Open invitations</h2>
          <ListTable
            label="Open invitations"
            columns={invitationColumns(setRevoked)}
            rows={data.invitations}
            rowKey={({ id }) => id}
          />
        </section>
      )}
      <Roles />
      {data && ownsConsole && <Accounts />}
      <InviteDialog opened={isInviting} onClose={() => setInviting(false)} />
      <RemoveDialog leaving={leaving} onClose={() => setLeaving(null)} />
      <SignInLinkDialog member={lockedOut} onClose={() => setLockedOut(null)} />
      <RevokeDialog invitation={revoked} onClose={() => setRevoked(null)} />
    </>
  )
}

function memberColumns(
  self: string,
  remove: (member: MemberRow) => void,
  link: (member: MemberRow) => void,
): Column<MemberRow>[] {
  return [
    { key: 'name', header: 'Name', render: (row) => <MemberName row={row} isSelf={row.personId === self} /> },
    {
      key: 'email',
      header: 'Email address',
      from: 640,
      render: ({ email }) => <span className="cb-dimmed">{email}</span>,
    },
    { key: 'role', header: 'Role', width: '136px', render: (row) => <RoleSelect row={row} /> },
    {
      key: 'joined',
      header: 'Joined',
      width: '112px',
      from: 640,
      render: ({ joinedAt }) => <Instant at={joinedAt} as="day" />,
    },
    {
      key: 'link',
      header: <span className="cb-hidden">Sign-in link</span>,
      width: '36px',
      align: 'right',
      render: (row) =>
        row.personId === self ? null : (
          <ActionIcon
            data-hint="Create a sign-in link"
            variant="subtle"
            color="gray"
            aria-label={`Create a sign-in link for ${row.name}`}
            onClick={() => link(row)}
          >
            <IconLink size={16} />
          </ActionIcon>
        ),
    },
    {
      key: 'remove',
      header: <span className="cb-hidden">Remove</span>,
      width: '48px',
      align: 'right',
      render: (row) => (
        <ActionIcon
          data-hint={row.personId === self ? 'Leave the project' : 'Remove from the project'}
          variant="subtle"
          color="gray"
          aria-label={`Remove ${row.name}`}
          onClick={() => remove(row)}
        >
          <IconTrash size={16} />
        </ActionIcon>
      ),
    },
  ]
}

function MemberName({ row: { name, email }, isSelf }: { row: MemberRow; isSelf: boolean }) {
  return (
    <span className={classes.keyName}>
      <Avatar name={name} of="person" />
      <span className="cb-truncate">
        {name}
        {isSelf && <span className="cb-dimmed"> · you</span>}
        <span className="cb-narrow-line">{email}</span>
      </span>
    </span>
  )
}

function RemoveDialog({ leaving, onClose }: { leaving: MemberRow | null; onClose: () => void }) {
  const { id: project, name: projectName } = useProject()
  const queryClient = useQueryClient()
  const person = usePerson()
  const isSelf = leaving?.personId === person.id
  const remove = async (member: MemberRow) => {
    await unwrap(api.projects({ project }).people({ id: member.personId }).delete())
    // After leaving, reload: the project is no longer accessible.
    if (isSelf) location.assign('/console')
    else await queryClient.invalidateQueries(peopleQuery(project))
  }
  return (
    <ConfirmDialog
      opened={leaving !== null}
      onClose={onClose}
      title={isSelf ? `Leave ${projectName}?` : `Remove ${leaving?.name ?? ''} from ${projectName}?`}
      confirmLabel={isSelf ? 'Leave' : 'Remove'}
      onConfirm={async () => leaving && remove(leaving)}
    >
      <p>
        {isSelf
          ? 'You lose access to this project at once. Only an owner can invite you again.'
          : 'They lose access to this project at once. Keys that they created keep working. Revoke any that they may still have.'}
      </p>
    </ConfirmDialog>
  )
}

function invitationColumns(revoke: (invitation: InvitationRow) => void): Column<InvitationRow>[] {
  return [
    { key: 'role', header: 'Role', render: ({ role }) => roleLabels[role] },
    {
      key: 'by',
      header: 'Invited by',
      render: ({ createdBy }) => createdBy ?? <span className="cb-dimmed">the command line</span>,
    },
    {
      key: 'created',
      header: 'Created',
      width: '128px',
      from: 640,
      render: ({ createdAt }) => <Instant at={createdAt} />,
    },
    {
      key: 'expires',
      header: 'Expires',
      width: '112px',
      render: ({ expiresAt }) => <Instant at={expiresAt} as="coming" />,
    },
    {
      key: 'revoke',
      header: <span className="cb-hidden">Revoke</span>,
      width: '48px',
      align: 'right',
      render: (row) => (
        <ActionIcon
          data-hint="Revoke"
          variant="subtle"
          color="gray"
          aria-label="Revoke the invitation"
          onClick={() => revoke(row)}
        >
          <IconX size={16} />
        </ActionIcon>
      ),
    },
  ]
}

function RevokeDialog({ invitation, onClose }: { invitation: InvitationRow | null; onClose: () => void }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const revoke = async ({ id }: InvitationRow) => {
    await unwrap(api.projects({ project }).invitations({ id }).delete())
    await queryClient.invalidateQueries(peopleQuery(project))
  }
  return (
    <ConfirmDialog
      opened={invitation !== null}
      onClose={onClose}
      title="Revoke the invitation?"
      confirmLabel="Revoke"
      onConfirm={async () => invitation && revoke(invitation)}
    >
      <p>Its link stops working at once.</p>
    </ConfirmDialog>
  )
}
