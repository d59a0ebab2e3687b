import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { SessionAnswer } from '../../../../access/people/session-answer.ts'
import { api, unwrap } from '../../api.ts'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { sessionQuery, useProvider } from '../../session.ts'
import { CodeForm } from './code-form.tsx'
import { ProviderLink, type ProviderLinkProps } from './provider-link.tsx'

interface FormProps {
  label: string
  onSignedIn: (session: SessionAnswer) => unknown
}

interface SignInFormProps extends Partial<ProviderLinkProps> {
  label?: string
  /** Whose session has ended. */
  email?: string
  onSignedIn: (session: SessionAnswer) => unknown
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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isPending) mutate()
  }
  return (
    <form onSubmit={submit} className="cb-stack" aria-label={label} noValidate>
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
      {error && !isAboutFields(error, names) && <Problem error={error} />}
      <Button type="submit" loading={isPending} fullWidth>
        {label}
      </Button>
    </form>
  )
}
