import { Button, Group, PasswordInput, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { SessionRow } from '../../../../access/people/sessions.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { personKeys } from '../../query-keys.ts'
import { sessionQuery, usePerson } from '../../session.ts'
import { NewPassword, passwordCharsMin } from '../entry/new-password.tsx'
import { deviceOf } from './device.ts'
import { NameForm } from './name-form.tsx'
import classes from './settings.module.css'
import { TwoFactorPanel } from './two-factor.tsx'

/** The person's own account, the same in every project. */
export function AccountView() {
  const { provider, hasPassword } = useSuspenseQuery(sessionQuery).data
  return (
    <>
      <PageHeader title="Account" description="Your account in every project." />
      <Stack gap="lg" maw={720}>
        <Person />
        {provider && (provider.isOnly || !hasPassword) ? (
          <Panel title="Password">
            <p>You sign in with {provider.name}, without a password here.</p>
          </Panel>
        ) : (
          <>
            <Password />
            <TwoFactorPanel />
          </>
        )}
        <Sessions />
      </Stack>
    </>
  )
}

function Person() {
  const { name, email } = usePerson()
  return (
    <Panel title="Person">
      <div className="cb-stack">
        <dl className={classes.facts}>
          <div>
            <dt>Email address</dt>
            <dd>{email}</dd>
          </div>
        </dl>
        <NameForm
          current={name}
          save={(next) => unwrap(api.person.patch({ name: next }))}
          sentence={(next) => `Your name is now ${next}.`}
          field={{ label: 'Name', autoComplete: 'name' }}
        />
      </div>
    </Panel>
  )
}

function Password() {
  const { email } = usePerson()
  const queryClient = useQueryClient()
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNew] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => unwrap(api.password.post({ currentPassword, newPassword })),
    onSuccess: async () => {
      setCurrent('')
      setNew('')
      notifications.show({ message: 'Password changed. Your other sessions have ended.' })
      await queryClient.invalidateQueries({ queryKey: personKeys.sessions })
    },
  })
  const isReady = currentPassword !== '' && newPassword.length >= passwordCharsMin
  const errors = fieldErrors(error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady && !isPending) mutate()
  }
  return (
    <Panel title="Password">
      <form onSubmit={submit} className="cb-stack" noValidate>
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          value={currentPassword}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          error={errors.currentPassword}
          visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
        />
        <NewPassword label="New password" value={newPassword} onChange={setNew} error={errors.newPassword} />
        {error && !isAboutFields(error, ['currentPassword', 'newPassword']) && <Problem error={error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!isReady} loading={isPending}>
            Change password
          </Button>
        </Group>
      </form>
    </Panel>
  )
}

function Sessions() {
  const [isAsking, setAsking] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: personKeys.sessions,
    queryFn: ({ signal }) => unwrap(api.sessions.get({ fetch: { signal } })),
  })
  const endAll = async () => {
    await unwrap(api.sessions.delete())
    location.assign('/console/sign-in')
  }
  return (
    <Panel
      title="Sessions"
      aside={
        <Button variant="default" size="xs" onClick={() => setAsking(true)}>
          Sign out everywhere
        </Button>
      }
    >
      {error && !data ? (
        <Problem error={error} title="The sessions could not be loaded" onRetry={() => void refetch()} />
      ) : (
        <ListTable
          label="Sessions"
          columns={sessionColumns}
          rows={data?.data}
          rowKey={({ id }) => id}
          expectedRows={2}
        />
      )}
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setAsking(false)}
        title="Sign out everywhere?"
        confirmLabel="Sign out everywhere"
        onConfirm={endAll}
      >
        <p>This ends all of your sessions, including this one. API keys keep working.</p>
      </ConfirmDialog>
    </Panel>
  )
}

const sessionColumns: Column<SessionRow>[] = [
  { key: 'device', header: 'Device', render: (row) => <Device row={row} /> },
  {
    key: 'address',
    header: 'Address',
    width: '144px',
    from: 640,
    render: ({ ipAddress }) => (ipAddress ? <Mono truncate>{ipAddress}</Mono> : null),
  },
  {
    key: 'seen',
    header: 'Last seen',
    width: '128px',
    from: 640,
    render: ({ lastSeenAt }) => <Instant at={lastSeenAt} />,
  },
  {
    key: 'end',
    header: <span className="cb-hidden">Sign out</span>,
    width: '128px',
    align: 'right',
    render: (row) => <EndSession row={row} />,
  },
]

function Device({ row: { userAgent, ipAddress, lastSeenAt } }: { row: SessionRow }) {
  const { name, isPhone } = deviceOf(userAgent)
  const Icon = isPhone ? IconDeviceMobile : IconDeviceDesktop
  return (
    <span className={classes.keyName} title={userAgent ?? undefined}>
      <Icon size={16} aria-hidden />
      <span className="cb-truncate">
        {name}
        <span className="cb-narrow-line">
          <Instant at={lastSeenAt} />
          {ipAddress && ` · ${ipAddress}`}
        </span>
      </span>
    </span>
  )
}

function EndSession({ row: { id, isCurrent, userAgent } }: { row: SessionRow }) {
  const queryClient = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: () => unwrap(api.sessions({ id }).delete()),
    onSettled: () => queryClient.invalidateQueries({ queryKey: personKeys.sessions }),
  })
  if (isCurrent) return <StatusBadge tone="success">This session</StatusBadge>
  return (
    <Button
      variant="default"
      size="xs"
      loading={isPending}
      onClick={() => mutate()}
      aria-label={`Sign out of ${deviceOf(userAgent).name}`}
    >
      Sign out
    </Button>
  )
}
