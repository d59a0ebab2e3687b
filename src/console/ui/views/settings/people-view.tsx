import { Select, Switch } from '@mantine/core'
import { IconLink, IconTrash, IconUserPlus, IconUserX, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { InvitationRow } from '../../../../access/people/invitations.ts'
import type { MemberRow } from '../../../../access/people/members.ts'
import type { Account } from '../../../../access/people/people.ts'
import { mayDo, type Role } from '../../../../identity.ts'
import { api, read } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { Avatar } from '../../components/avatar.tsx'
import { ChoiceCards } from '../../components/choice-cards.tsx'
import { useConfirm, useShow } from '../../components/dialogs.tsx'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { Facts, Page, Section } from '../../components/page.tsx'
import { Problem } from '../../components/problem.tsx'
import { useShowLink } from '../../components/shown-once.tsx'
import { QueryTable, Table } from '../../components/table.tsx'
import { sessionQuery, useOwnsConsole, usePerson, useProject, useProvider } from '../../session.ts'
import classes from './settings.module.css'

/** The project's members, their roles, and its open invitations. */
export function PeopleView() {
  const { of, name } = useProject()
  const people = useQuery(read(of.people))
  const ownsConsole = useOwnsConsole()
  const show = useShow()
  const invite = () =>
    show({ title: `Invite to ${name}`, size: 480, content: (close) => <InviteForm onCancel={close} /> })
  return (
    <Page
      title="People"
      description="Who can see and change this project."
      action={<TextButton icon={IconUserPlus} label="Invite" onClick={invite} />}
    >
      <Members />
      {people.data && people.data.invitations.length > 0 && <Invitations rows={people.data.invitations} />}
      <Roles />
      {people.data && ownsConsole && <Accounts />}
    </Page>
  )
}

function Members() {
  const people = useQuery(read(useProject().of.people))
  const self = usePerson().id
  const isProviderOnly = useProvider()?.isOnly
  const remove = useRemoval()
  const link = useSignInLink()
  return (
    <QueryTable
      label="Members"
      of={people}
      what="The people"
      rows={people.data?.members}
      rowKey={({ personId }) => personId}
      expectedRows={3}
      columns={({ actions, cell, text, when }) => [
        cell('Name', (row) => <MemberName row={row} isSelf={row.personId === self} />),
        text('Email address', ({ email }) => email, { from: 640, isDimmed: true }),
        cell('Role', (row) => <RoleSelect row={row} />, { width: '116px' }),
        when('Joined', ({ joinedAt }) => joinedAt, { as: 'day', from: 640 }),
        actions(
          'Actions',
          (row) => [
            // Nobody signs in by such a link where passwords are not accepted.
            row.personId !== self &&
              !isProviderOnly && {
                icon: IconLink,
                label: `Create a sign-in link for ${row.name}`,
                hint: 'Create a sign-in link',
                act: () => link(row),
              },
            {
              icon: IconTrash,
              label: `Remove ${row.name}`,
              hint: row.personId === self ? 'Leave the project' : 'Remove from the project',
              act: () => remove(row),
            },
          ],
          '72px',
        ),
      ]}
    />
  )
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

function useRemoval() {
  const { of, name: project } = useProject()
  const self = usePerson().id
  const ask = useConfirm()
  return ({ personId: id, name }: MemberRow) =>
    ask({
      title: id === self ? `Leave ${project}?` : `Remove ${name} from ${project}?`,
      verb: id === self ? 'Leave' : 'Remove',
      text:
        id === self
          ? 'You lose access to this project at once. Only an owner can invite you again.'
          : 'They lose access to this project at once. Keys that they created keep working. Revoke any that they may still have.',
      send: () => of.people({ id }).delete(),
      // After leaving, reload: the project is no longer accessible.
      changes: id === self ? [] : of.people,
      done: () => id === self && location.assign('/console'),
    })
}

/** Makes a link for somebody who cannot sign in. It is shown once, and only the dialog holds it. */
function useSignInLink() {
  const { of } = useProject()
  const ask = useConfirm()
  const showLink = useShowLink()
  return ({ personId: id, name, email }: MemberRow) =>
    ask({
      title: `Create a sign-in link for ${name}?`,
      verb: 'Create link',
      isDanger: false,
      text: `Whoever opens it sets a new password for ${email} and is signed in, so send it to no one else. The current password works until then. If two-factor sign-in is on, it still asks for a code.`,
      send: () => of.people({ id })['sign-in-link'].post({}),
      done: (made) =>
        showLink(
          made.link,
          <>
            It sets a new password for {made.email}. It works once, expires{' '}
            <Instant at={made.expiresAt} as="absolute" />, and is not shown again.
          </>,
        ),
    })
}

/** A member's role. Another one is asked about before it applies. */
function RoleSelect({ row: { personId: id, name, role } }: { row: MemberRow }) {
  const { of, membersMayDelete } = useProject()
  const isSelf = usePerson().id === id
  const ask = useConfirm()
  const choose = (next: Role) => {
    const label = roleLabels[next].toLowerCase()
    const named = `${next === 'owner' ? 'an' : 'a'} ${label}`
    ask({
      title: isSelf ? `Become ${named}?` : `Make ${name} ${named}?`,
      verb: `${isSelf ? 'Become' : 'Make'} ${label}`,
      isDanger: !mayDo('manage', { role: next, membersMayDelete }),
      text: (
        <>
          <p>
            {roleLabels[next]}: {describeRole(next, membersMayDelete)} This takes effect with the next
            request.
          </p>
          {isSelf && <p>Only an owner can make you an owner again.</p>}
        </>
      ),
      send: () => of.people({ id }).patch({ role: next }),
      changes: [of.people, sessionQuery],
    })
  }
  return (
    <Select
      size="xs"
      aria-label={`Role of ${name}`}
      value={role}
      onChange={(value) => value && value !== role && choose(value)}
      allowDeselect={false}
      data={roles.map((value) => ({ value, label: roleLabels[value] }))}
      comboboxProps={{ width: 144 }}
    />
  )
}

function Invitations({ rows }: { rows: InvitationRow[] }) {
  const { of } = useProject()
  const ask = useConfirm()
  const revoke = ({ id }: InvitationRow) =>
    ask({
      title: 'Revoke the invitation?',
      verb: 'Revoke',
      text: 'Its link stops working at once.',
      send: () => of.invitations({ id }).delete(),
      changes: of.people,
    })
  return (
    <Section title="Open invitations">
      <Table
        label="Open invitations"
        rows={rows}
        rowKey={({ id }) => id}
        columns={({ actions, text, when }) => [
          text('Role', ({ role }) => roleLabels[role]),
          text('Invited by', ({ createdBy }) => createdBy, { none: 'the command line' }),
          when('Created', ({ createdAt }) => createdAt, { width: '128px', from: 640 }),
          when('Expires', ({ expiresAt }) => expiresAt, { as: 'coming' }),
          actions('Revoke', (row) => [
            { icon: IconX, label: 'Revoke the invitation', act: () => revoke(row) },
          ]),
        ]}
      />
    </Section>
  )
}

/** Makes a one-time invitation. Its link is shown once, and only the dialog holds it. */
function InviteForm({ onCancel }: { onCancel: () => void }) {
  const { of, membersMayDelete } = useProject()
  const showLink = useShowLink()
  const form = useApiForm({
    first: { role: 'member' as Role },
    send: (body) => of.invitations.post(body),
    changes: of.people,
    done: ({ link, role, expiresAt }) =>
      showLink(
        link,
        <>
          The first person to use this link joins as {role === 'owner' ? 'an owner' : `a ${role}`}. It expires{' '}
          <Instant at={expiresAt} as="absolute" /> and is not shown again.
        </>,
      ),
  })
  return (
    <ApiForm form={form} label="Create link" onCancel={onCancel}>
      <ChoiceCards
        label="Role"
        cols={1}
        choices={roles.map((value) => ({
          value,
          label: roleLabels[value],
          text: describeRole(value, membersMayDelete),
        }))}
        {...form.field('role')}
      />
    </ApiForm>
  )
}

/** What each role may do, and whether members may delete. */
function Roles() {
  const { of, membersMayDelete } = useProject()
  const { mutate, isPending, error } = useAct({
    send: (next: boolean) => of.settings.put({ membersMayDelete: next }),
    changes: sessionQuery,
  })
  const facts = roles.toReversed().map((role) => [roleLabels[role], describeRole(role, membersMayDelete)])
  return (
    <Section title="Roles">
      <Facts of={Object.fromEntries(facts)} />
      <Switch
        size="xs"
        mt="md"
        label="Members can delete calls and knowledge"
        description="Owners always can. Deleted records cannot be restored."
        checked={membersMayDelete}
        disabled={isPending}
        onChange={(event) => mutate(event.currentTarget.checked)}
      />
      {error && <Problem error={error} title="The setting was not saved" />}
    </Section>
  )
}

/** Everybody who can sign in, in any project or none. For the console's owner. */
function Accounts() {
  const { of } = useProject()
  const self = usePerson().id
  const accounts = useQuery(read(api.people))
  const ask = useConfirm()
  const remove = ({ id, name }: Account) =>
    ask({
      title: `Delete the account of ${name}?`,
      verb: 'Delete account',
      text: 'This signs them out at once and removes them from every project. Keys that they created keep working. Revoke any that they may still have. This cannot be undone.',
      send: () => api.people({ id }).delete(),
      changes: [api.people, of.people],
    })
  return (
    <Section
      title="All accounts"
      description="Everyone who can sign in to this console. Only you, as its owner, can see this list."
    >
      <QueryTable
        label="All accounts"
        of={accounts}
        what="The accounts"
        rows={accounts.data?.data}
        rowKey={({ id }) => id}
        expectedRows={3}
        columns={({ actions, text }) => [
          text('Name', ({ name }) => name),
          text('Email address', ({ email }) => email, { isDimmed: true }),
          actions('Delete the account', (row) => [
            row.id !== self && {
              icon: IconUserX,
              label: `Delete the account of ${row.name}`,
              act: () => remove(row),
            },
          ]),
        ]}
      />
    </Section>
  )
}

/** From least to most. */
export const roles: readonly Role[] = ['viewer', 'member', 'owner']

/** What a role is called. */
export const roleLabels: Record<Role, string> = { owner: 'Owner', member: 'Member', viewer: 'Viewer' }

/** What a role may do in a project. */
export function describeRole(role: Role, membersMayDelete: boolean): string {
  if (role === 'viewer') return 'Can see calls and knowledge and use the playground, but change nothing.'
  if (role === 'owner')
    return 'Can do everything, including manage keys, people and settings, and delete the project.'
  const deletion = membersMayDelete ? 'including deleting them' : 'but delete nothing'
  return `Can see and change calls and knowledge, ${deletion}. Cannot see keys, people, settings or the audit trail.`
}
