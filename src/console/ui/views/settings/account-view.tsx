import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import type { SessionRow } from '../../../../access/people/sessions.ts'
import { api, read } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { useConfirm } from '../../components/dialogs.tsx'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { Facts, Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable } from '../../components/table.tsx'
import { sessionQuery, usePerson } from '../../session.ts'
import { NewPassword, passwordCharsMin } from '../entry/new-password.tsx'
import classes from './settings.module.css'
import { TwoFactorPanel } from './two-factor.tsx'

/** The person's own account, the same in every project. */
export function AccountView() {
  const { provider, hasPassword } = useSuspenseQuery(sessionQuery).data
  return (
    <Page title="Account" description="Your account in every project.">
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
    </Page>
  )
}

function Person() {
  const { name: current, email } = usePerson()
  const form = useApiForm({
    first: { name: current },
    needs: ['name'],
    isEdit: true,
    body: ({ name }) => ({ name: name.trim() }),
    send: (body) => api.person.patch(body),
    changes: sessionQuery,
    says: ({ name }) => `Your name is now ${name}.`,
  })
  return (
    <Panel title="Person">
      <div className="cb-stack">
        <Facts of={{ 'Email address': email }} />
        <ApiForm form={form} label="Save" autoComplete="on">
          <TextInput label="Name" autoComplete="name" maxLength={200} {...form.field('name')} />
        </ApiForm>
      </div>
    </Panel>
  )
}

function Password() {
  const { email } = usePerson()
  const form = useApiForm({
    first: { currentPassword: '', newPassword: '' },
    isReady: ({ currentPassword, newPassword }) =>
      currentPassword !== '' && newPassword.length >= passwordCharsMin,
    send: (body) => api.password.post(body),
    changes: api.sessions,
    says: 'Password changed. Your other sessions have ended.',
  })
  return (
    <Panel title="Password">
      <ApiForm form={form} label="Change password" autoComplete="on">
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          {...form.field('currentPassword')}
        />
        <NewPassword label="New password" {...form.field('newPassword')} />
      </ApiForm>
    </Panel>
  )
}

function Sessions() {
  const sessions = useQuery(read(api.sessions))
  const ask = useConfirm()
  const endAll = () =>
    ask({
      title: 'Sign out everywhere?',
      verb: 'Sign out everywhere',
      text: 'This ends all of your sessions, including this one. API keys keep working.',
      send: () => api.sessions.delete(),
      done: () => location.assign('/console/sign-in'),
    })
  return (
    <Panel
      title="Sessions"
      aside={<TextButton label="Sign out everywhere" variant="default" size="xs" onClick={endAll} />}
    >
      <QueryTable
        label="Sessions"
        of={sessions}
        what="The sessions"
        rows={sessions.data?.data}
        rowKey={({ id }) => id}
        expectedRows={2}
        columns={({ cell, end, mono }) => [
          cell('Device', (row) => <Device row={row} />),
          mono('Address', ({ ipAddress }) => ipAddress, { width: '144px', from: 640 }),
          cell('Last seen', (row) => <LastSeen row={row} />, { width: '128px', from: 640 }),
          end('Sign out', (row) => <EndSession row={row} />, '128px'),
        ]}
      />
    </Panel>
  )
}

interface SessionProps {
  row: SessionRow
}

function Device({ row }: SessionProps) {
  const { name, isPhone } = deviceOf(row.userAgent)
  const Icon = isPhone ? IconDeviceMobile : IconDeviceDesktop
  return (
    <span className={classes.keyName} title={row.userAgent ?? undefined}>
      <Icon size={16} aria-hidden />
      <span className="cb-truncate">
        {name}
        <span className="cb-narrow-line">
          <LastSeen row={row} />
          {row.ipAddress && ` · ${row.ipAddress}`}
        </span>
      </span>
    </span>
  )
}

/** The service notes it now and then, which would look as if this session were away. */
function LastSeen({ row: { isCurrent, lastSeenAt } }: SessionProps) {
  return isCurrent ? 'Now' : <Instant at={lastSeenAt} />
}

function EndSession({ row: { id, isCurrent, userAgent } }: SessionProps) {
  const { mutate, isPending } = useAct({
    send: () => api.sessions({ id }).delete(),
    changes: api.sessions,
  })
  if (isCurrent) return <StatusBadge tone="success" label="This session" />
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

const browsers = [
  { mark: /Edg(e|A|iOS)?\//, name: 'Edge' },
  { mark: /OPR\/|Opera/, name: 'Opera' },
  { mark: /Firefox\/|FxiOS\//, name: 'Firefox' },
  { mark: /Chrome\/|CriOS\//, name: 'Chrome' },
  { mark: /Safari\//, name: 'Safari' },
]

const systems = [
  { mark: /iPhone|iPod/, name: 'iPhone', isPhone: true },
  { mark: /iPad/, name: 'iPad', isPhone: true },
  { mark: /Android/, name: 'Android', isPhone: true },
  { mark: /Windows/, name: 'Windows', isPhone: false },
  { mark: /Mac OS X|Macintosh/, name: 'macOS', isPhone: false },
  { mark: /CrOS/, name: 'ChromeOS', isPhone: false },
  { mark: /Linux/, name: 'Linux', isPhone: false },
]

/** `Chrome on macOS`, as far as the User-Agent says. */
export function deviceOf(userAgent: string | null): { name: string; isPhone: boolean } {
  const browser = browsers.find(({ mark }) => mark.test(userAgent ?? ''))
  const system = systems.find(({ mark }) => mark.test(userAgent ?? ''))
  const name = [browser?.name, system?.name].filter(Boolean).join(' on ')
  return { name: name || 'Unknown device', isPhone: system?.isPhone ?? false }
}
