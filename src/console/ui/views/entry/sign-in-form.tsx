import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { SessionAnswer } from '../../../people/session-answer.ts'
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
  onSignedIn: FormProps['onSignedIn']
}

/**
 * Signs in at the provider, if there is one, or with email address and password, and the code of a second factor where
 * the person has one.
 */
export function SignInForm({ label = 'Sign in', onSignedIn, ...after }: SignInFormProps) {
  const provider = useProvider()
  const queryClient = useQueryClient()
  // Also after a reload, or after a link that has just set the password.
  const [needsCode, setNeedsCode] = useState(
    () => queryClient.getQueryData(sessionQuery.queryKey)?.needsCode ?? false,
  )
  if (needsCode) return <CodeForm label={label} onSignedIn={onSignedIn} onBack={() => setNeedsCode(false)} />
  return (
    <div className="cb-stack">
      {provider && <ProviderLink provider={provider} {...after} />}
      {!provider?.isOnly && (
        <PasswordForm label={label} onSignedIn={onSignedIn} onCodeNeeded={() => setNeedsCode(true)} />
      )}
    </div>
  )
}

const names = ['email', 'password']

interface PasswordFormProps extends FormProps {
  onCodeNeeded: () => void
}

function PasswordForm({ label, onSignedIn, onCodeNeeded }: PasswordFormProps) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { mutate, isIdle, isPending, error } = useMutation({
    mutationFn: async () => {
      const session = await unwrap(api.session.post({ email: email.trim(), password }))
      return session.needsCode ? onCodeNeeded() : onSignedIn(session)
    },
  })
  const errors = fieldErrors(error)
  const first = useFocus<HTMLInputElement>(errors.email === undefined ? isIdle || null : error)
  const again = useFocus<HTMLInputElement>(errors.email === undefined ? error : null)
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
