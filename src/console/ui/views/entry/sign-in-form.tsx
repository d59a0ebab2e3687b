import { Button, Divider, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SessionAnswer } from '../../../../access/people/session-answer.ts'
import { ApiProblem, api, unwrap } from '../../api.ts'
import { CodeField } from '../../components/code-field.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { useFocus } from '../../components/use-focus.ts'
import { sessionQuery, useProvider } from '../../session.ts'
import { EntryForm } from './entry-frame.tsx'

interface FormProps {
  label: string
  onSignedIn: (session: SessionAnswer) => unknown
}

/** What to do after signing in at the provider, and where that opens. */
interface ProviderLinkProps {
  from?: string | undefined
  /** The token of an invitation to accept. */
  invitation?: string
  /** Keeps this page as it is. */
  inNewTab?: boolean
}

interface SignInFormProps extends Partial<FormProps>, ProviderLinkProps {
  onSignedIn: FormProps['onSignedIn']
  /** Whose session has ended. */
  email?: string
  /** Called when a code is asked for, and when the password is again. */
  onStep?: (needsCode: boolean) => void
}

/** Whether a code is asked for at first: after a reload, or after a link that has just set the password. */
export function useNeedsCode() {
  const queryClient = useQueryClient()
  return useState(() => queryClient.getQueryData(sessionQuery.queryKey)?.needsCode ?? false)
}

/**
 * Signs in at the provider, if there is one, or with email address and password, and the code of a second factor where
 * the person has one.
 */
export function SignInForm({ label = 'Sign in', email, onSignedIn, onStep, ...after }: SignInFormProps) {
  const provider = useProvider()
  const [needsCode, setNeedsCode] = useNeedsCode()
  const go = (isCode: boolean) => {
    setNeedsCode(isCode)
    onStep?.(isCode)
  }
  if (needsCode) return <CodeForm label={label} onSignedIn={onSignedIn} onBack={() => go(false)} />
  return (
    <div className="cb-stack">
      {provider && <ProviderLink provider={provider} {...after} />}
      {!provider?.isOnly && (
        <PasswordForm label={label} known={email} onSignedIn={onSignedIn} onCodeNeeded={() => go(true)} />
      )}
    </div>
  )
}

const names = ['email', 'password']

interface PasswordFormProps extends FormProps {
  known: string | undefined
  onCodeNeeded: () => void
}

function PasswordForm({ label, known, onSignedIn, onCodeNeeded }: PasswordFormProps) {
  const [email, setEmail] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const { mutate, isIdle, isPending, error } = useMutation({
    mutationFn: async () => {
      const session = await unwrap(api.session.post({ email: email.trim(), password }))
      return session.needsCode ? onCodeNeeded() : onSignedIn(session)
    },
  })
  const errors = fieldErrors(error)
  const isKnown = known !== undefined && isIdle
  const first = useFocus<HTMLInputElement>(errors.email === undefined ? (isIdle && !isKnown) || null : error)
  const again = useFocus<HTMLInputElement>(errors.email === undefined ? isKnown || error : null)
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
        label="Email address"
        type="email"
        name="email"
        autoComplete="username"
        required
        withAsterisk={false}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={errors.email}
      />
      <PasswordInput
        ref={again}
        // A dialog focuses its first field otherwise.
        data-autofocus={known !== undefined || undefined}
        label="Password"
        name="password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={errors.password}
        visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
      />
    </EntryForm>
  )
}

/** The second step of signing in. @param onBack back to the password, of this person or another */
function CodeForm({ label, onSignedIn, onBack }: FormProps & { onBack: () => void }) {
  const [code, setCode] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => onSignedIn(await unwrap(api.session.code.post({ code }))),
  })
  const isOver = error instanceof ApiProblem && error.status === 401
  return (
    <div className="cb-stack">
      <EntryForm
        label={label}
        aria-label={label}
        names={['code']}
        isReady={!isOver && code.trim() !== ''}
        isPending={isPending}
        error={error}
        onSubmit={mutate}
      >
        <CodeField value={code} onChange={setCode} error={fieldErrors(error).code} />
      </EntryForm>
      <Button variant="subtle" onClick={onBack} fullWidth>
        Back to password
      </Button>
    </div>
  )
}

interface FullProviderLinkProps extends ProviderLinkProps {
  provider: NonNullable<SessionAnswer['provider']>
}

/** Leads to the provider, with a line below it where there is another way to sign in. */
export function ProviderLink({ provider, from, invitation, inNewTab = false }: FullProviderLinkProps) {
  const query = from ? `?${new URLSearchParams({ from })}` : ''
  const hash = invitation ? `#${invitation}` : ''
  return (
    <>
      <Button
        component="a"
        href={`/console/sign-in/oidc${query}${hash}`}
        {...(inNewTab ? { target: '_blank' } : {})}
        variant={provider.isOnly ? 'filled' : 'default'}
        fullWidth
      >
        Sign in with {provider.name}
        {inNewTab && ' in a new tab'}
      </Button>
      {!provider.isOnly && <Divider label="or" />}
    </>
  )
}
