import { Anchor, Box, Button, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { LinkAnswer } from '../../../../access/people/links.ts'
import type { SessionAnswer } from '../../../../access/people/session-answer.ts'
import { type Answered, api } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { CodeBlock, Mono } from '../../components/code.tsx'
import { Problem } from '../../components/problem.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { sessionQuery } from '../../session.ts'
import { EntryFrame, LinkFrame, useEntry, useLink } from './entry-frame.tsx'
import { NewPassword } from './new-password.tsx'
import { entryFormProps, ProviderLink, SignInForm } from './sign-in-form.tsx'

const setUpTitle = 'Set up Callbook'
const resetTitle = 'Choose a new password'

/** The page of the set-up link: the first owner creates their account. */
export function SetupView() {
  const { token, answer, error, retry } = useLink('setup')
  if (!token) return <NoLink />
  if (!answer) {
    const advice = (
      <>
        Whoever runs Callbook can create a new link with <Mono>bun callbook person setup</Mono>.
      </>
    )
    return <LinkFrame title={setUpTitle} error={error} onRetry={retry} fields={3} advice={advice} />
  }
  return (
    <EntryFrame
      title={setUpTitle}
      text="Create the account that owns this console. Projects that have no owner yet become yours, and you can invite other people."
    >
      <NewPersonForm label="Create account" send={(person) => api.links.setup.post({ token, ...person })} />
    </EntryFrame>
  )
}

/** At the plain address, while nobody has an account. */
function NoLink() {
  return (
    <EntryFrame
      title={setUpTitle}
      text="The first account is created with a link that only whoever runs Callbook can see."
      footer={<Link to="/sign-in">I already have an account</Link>}
    >
      <Stack component="ol" gap="sm" pl={20} style={{ listStyle: 'decimal' }} className="cb-wrap">
        <li>
          Callbook prints the link when it starts, as <Mono>{`${location.origin}/console/setup#…`}</Mono>.
          Open it here.
        </li>
        <li>
          If you no longer have the link, create a new one from Callbook’s folder:
          <Box mt="xs">
            <CodeBlock code="bun callbook person setup" label="Copy command" />
          </Box>
        </li>
      </Stack>
    </EntryFrame>
  )
}

/** The page of a link for a new password. */
export function ResetView() {
  const { token, answer, error, retry } = useLink('password')
  if (answer?.kind !== 'password') {
    const advice =
      'A password link works once and expires after a day. An owner of your project, or whoever runs Callbook, can create a new one.'
    return <LinkFrame title={resetTitle} error={error} onRetry={retry} fields={2} advice={advice} />
  }
  return (
    <EntryFrame title={resetTitle} text="This signs you out everywhere else.">
      <ResetForm token={token} email={answer.email} />
    </EntryFrame>
  )
}

function ResetForm({ token, email }: { token: string; email: string }) {
  const enter = useEntry()
  const form = useApiForm({
    first: { password: '' },
    send: ({ password }) => api.links.password.post({ token, password }),
    done: (session) => enter(session),
  })
  return (
    <ApiForm form={form} label="Set password" {...entryFormProps}>
      {/* Also for password managers, which store the password under it. */}
      <TextInput label="Email address" type="email" autoComplete="username" value={email} readOnly />
      <NewPassword label="New password" {...form.field('password')} />
    </ApiForm>
  )
}

/** The page of an invitation: join with an existing account or a new one. */
export function JoinView() {
  const { token, answer, error, retry } = useLink('invitation')
  const session = useQuery(sessionQuery)
  if (answer?.kind !== 'invitation' || !session.data) {
    const advice =
      'An invitation works once and expires after seven days. Ask an owner of the project for a new one.'
    return (
      <LinkFrame
        title="Join a project"
        error={error ?? session.error}
        onRetry={retry}
        fields={3}
        advice={advice}
      />
    )
  }
  return <Invited token={token} invitation={answer} session={session.data} />
}

interface InvitedProps {
  token: string
  invitation: Extract<LinkAnswer, { kind: 'invitation' }>
  session: SessionAnswer
}

function Invited({ token, invitation: { projectName, role, invitedBy }, session }: InvitedProps) {
  const { person, provider } = session
  const [as, setAs] = useState<'person' | 'account' | 'new'>(person ? 'person' : 'new')
  const enter = useEntry()
  const { mutate, mutateAsync, isPending, error } = useAct({
    send: () => api.links.invitation.post({ token }),
    done: (joined) => enter(joined),
  })
  const text = `${invitedBy ?? 'An owner'} invited you as ${role === 'owner' ? 'an owner' : `a ${role}`}.`
  const other = (to: typeof as, label: string) => (
    <Anchor component="button" type="button" onClick={() => setAs(to)}>
      {label}
    </Anchor>
  )
  const footer = {
    person: other('account', 'Use another account'),
    account: other('new', 'I do not have an account'),
    new: provider?.isOnly ? undefined : other('account', 'I already have an account'),
  }[as]
  return (
    <EntryFrame title={`Join ${projectName}`} text={text} footer={footer}>
      {as === 'person' && person && (
        <div className="cb-stack">
          <p>
            You are signed in as <strong>{person.name}</strong>, {person.email}.
          </p>
          {error && <Problem error={error} />}
          <Button onClick={() => mutate()} loading={isPending} fullWidth>
            Join as {person.name}
          </Button>
        </div>
      )}
      {as === 'account' && (
        <SignInForm
          key="account"
          label="Sign in and join"
          onSignedIn={() => mutateAsync()}
          invitation={token}
        />
      )}
      {as === 'new' && (
        <div className="cb-stack">
          {provider && <ProviderLink provider={provider} invitation={token} />}
          {!provider?.isOnly && (
            <NewPersonForm
              label="Create account and join"
              send={(newPerson) => api.links.invitation.post({ token, newPerson })}
            />
          )}
        </div>
      )}
    </EntryFrame>
  )
}

interface NewPerson {
  name: string
  email: string
  password: string
}

interface NewPersonFormProps {
  /** The button's label. */
  label: string
  send: (person: NewPerson) => Promise<Answered<SessionAnswer>>
}

const entryField = { required: true, withAsterisk: false }

/** Creates an account: name, email address and password. */
function NewPersonForm({ label, send }: NewPersonFormProps) {
  const enter = useEntry()
  const first = useFocus<HTMLInputElement>()
  const form = useApiForm({
    first: { name: '', email: '', password: '' },
    body: ({ name, email, password }) => ({ name: name.trim(), email: email.trim(), password }),
    send,
    done: (session) => enter(session),
  })
  return (
    <ApiForm form={form} label={label} aria-label={label} {...entryFormProps}>
      <TextInput
        ref={first}
        label="Name"
        name="name"
        autoComplete="name"
        maxLength={200}
        {...entryField}
        {...form.field('name')}
      />
      <TextInput
        label="Email address"
        type="email"
        name="email"
        autoComplete="username"
        maxLength={320}
        {...entryField}
        {...form.field('email')}
      />
      <NewPassword {...form.field('password')} />
    </ApiForm>
  )
}
