import { Anchor, Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Person } from '../../../../access/people/credentials.ts'
import type { LinkAnswer } from '../../../../access/people/links.ts'
import type { SessionAnswer } from '../../../../access/people/session-answer.ts'
import { api, unwrap } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { sessionQuery } from '../../session.ts'
import { EntryFrame } from './entry-frame.tsx'
import { LinkFrame } from './link-frame.tsx'
import { NewPersonForm } from './new-person-form.tsx'
import { ProviderLink } from './provider-link.tsx'
import { SignInForm } from './sign-in-form.tsx'
import { useEntry } from './use-entry.ts'
import { useLink } from './use-link.ts'

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
  const accept = async (newPerson?: { name: string; email: string; password: string }) =>
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
