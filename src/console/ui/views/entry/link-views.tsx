import { Anchor, Button, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Person } from '../../../../access/people/credentials.ts'
import type { LinkAnswer } from '../../../../access/people/links.ts'
import type { SessionAnswer } from '../../../../access/people/session-answer.ts'
import { api, unwrap } from '../../api.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { Mono } from '../../components/mono.tsx'
import { Problem } from '../../components/problem.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { sessionQuery } from '../../session.ts'
import classes from './entry.module.css'
import { EntryForm, EntryFrame } from './entry-frame.tsx'
import { NewPassword } from './new-password.tsx'
import { LinkFrame, useEntry, useLink } from './opened-link.tsx'
import { ProviderLink, SignInForm } from './sign-in-form.tsx'

const setUpTitle = 'Set up Callbook'
const resetTitle = 'Choose a new password'

/** The page of the set-up link: the first owner creates their account. */
export function SetupView() {
  const { token, answer, error, retry } = useLink('setup')
  const enter = useEntry()
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
      <NewPersonForm
        label="Create account"
        onSubmit={async (person) => enter(await unwrap(api.links.setup.post({ token, ...person })))}
      />
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
      <ol className={classes.steps}>
        <li>
          Callbook prints the link when it starts, as <Mono>{`${location.origin}/console/setup#…`}</Mono>.
          Open it here.
        </li>
        <li>
          If you no longer have the link, create a new one from Callbook’s folder:
          <CodeBlock code="bun callbook person setup" label="Copy command" />
        </li>
      </ol>
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
  const [password, setPassword] = useState('')
  const enter = useEntry()
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => enter(await unwrap(api.links.password.post({ token, password }))),
  })
  return (
    <EntryForm
      label="Set password"
      names={['password']}
      isPending={isPending}
      error={error}
      onSubmit={mutate}
    >
      {/* Also for password managers, which store the password under it. */}
      <TextInput label="Email address" type="email" autoComplete="username" value={email} readOnly />
      <NewPassword
        label="New password"
        value={password}
        onChange={setPassword}
        error={fieldErrors(error).password}
      />
    </EntryForm>
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
  const accept = async (newPerson?: NewPerson) =>
    enter(await unwrap(api.links.invitation.post({ token, ...(newPerson ? { newPerson } : {}) })))
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
      {as === 'person' && person && <JoinAs person={person} onJoin={() => accept()} />}
      {as === 'account' && (
        <SignInForm key="account" label="Sign in and join" onSignedIn={() => accept()} invitation={token} />
      )}
      {as === 'new' && (
        <div className="cb-stack">
          {provider && <ProviderLink provider={provider} invitation={token} />}
          {!provider?.isOnly && <NewPersonForm label="Create account and join" onSubmit={accept} />}
        </div>
      )}
    </EntryFrame>
  )
}

function JoinAs({ person, onJoin }: { person: Person; onJoin: () => Promise<void> }) {
  const { mutate, isPending, error } = useMutation({ mutationFn: onJoin })
  return (
    <div className="cb-stack">
      <p>
        You are signed in as <strong>{person.name}</strong>, {person.email}.
      </p>
      {error && <Problem error={error} />}
      <Button onClick={() => mutate()} loading={isPending} fullWidth>
        Join as {person.name}
      </Button>
    </div>
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
  onSubmit: (person: NewPerson) => Promise<unknown>
}

const names = ['name', 'email', 'password'] as const

/** Creates an account: name, email address and password. */
function NewPersonForm({ label, onSubmit }: NewPersonFormProps) {
  const [person, setPerson] = useState<NewPerson>({ name: '', email: '', password: '' })
  const { mutate, isIdle, isPending, error } = useMutation({
    mutationFn: () => onSubmit({ ...person, name: person.name.trim(), email: person.email.trim() }),
  })
  const errors = fieldErrors(error)
  // The first field, and again the first one at fault.
  const fault = names.find((name) => errors[name] !== undefined)
  const first = useFocus<HTMLInputElement>(fault === 'name' ? error : isIdle || null)
  const second = useFocus<HTMLInputElement>(fault === 'email' ? error : null)
  const third = useFocus<HTMLInputElement>(fault === 'password' ? error : null)
  const change = (part: Partial<NewPerson>) => setPerson({ ...person, ...part })
  return (
    <EntryForm
      label={label}
      aria-label={label}
      names={names}
      isPending={isPending}
      error={error}
      onSubmit={mutate}
    >
      <TextInput
        ref={first}
        label="Name"
        name="name"
        autoComplete="name"
        required
        withAsterisk={false}
        maxLength={200}
        value={person.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={errors.name}
      />
      <TextInput
        ref={second}
        label="Email address"
        type="email"
        name="email"
        autoComplete="username"
        required
        withAsterisk={false}
        maxLength={320}
        value={person.email}
        onChange={(event) => change({ email: event.currentTarget.value })}
        error={errors.email}
      />
      <NewPassword
        ref={third}
        value={person.password}
        onChange={(password) => change({ password })}
        error={errors.password}
      />
    </EntryForm>
  )
}
