import { Button, Divider, PasswordInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SessionAnswer } from '../../../../access/people/session-answer.ts'
import { ApiProblem, api } from '../../api.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { CodeField } from '../../components/code-field.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { sessionQuery, useProvider } from '../../session.ts'

/** A button as wide as the form, and fields that browsers fill. */
export const entryFormProps = { isWide: true, autoComplete: 'on' }

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

interface PasswordFormProps extends FormProps {
  known: string | undefined
  onCodeNeeded: () => void
}

function PasswordForm({ label, known, onSignedIn, onCodeNeeded }: PasswordFormProps) {
  const form = useApiForm({
    first: { email: known ?? '', password: '' },
    body: ({ email, password }) => ({ email: email.trim(), password }),
    send: (body) => api.session.post(body),
    done: (session) => (session.needsCode ? onCodeNeeded() : onSignedIn(session)),
  })
  const email = form.field('email')
  const first = useFocus<HTMLInputElement>(known === undefined)
  // Again after a wrong password, unless the address is at fault.
  const second = useFocus<HTMLInputElement>(
    email.error === undefined && (form.state.error ?? known !== undefined),
  )
  return (
    <ApiForm form={form} label={label} aria-label={label} {...entryFormProps}>
      <TextInput
        ref={first}
        label="Email address"
        type="email"
        name="email"
        autoComplete="username"
        required
        withAsterisk={false}
        {...email}
      />
      <PasswordInput
        ref={second}
        // A dialog focuses its first field otherwise.
        data-autofocus={known !== undefined || undefined}
        label="Password"
        name="password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        {...form.field('password')}
      />
    </ApiForm>
  )
}

/** The second step of signing in. @param onBack back to the password, of this person or another */
function CodeForm({ label, onSignedIn, onBack }: FormProps & { onBack: () => void }) {
  const form = useApiForm({
    first: { code: '' },
    needs: ['code'],
    send: (body) => api.session.code.post(body),
    done: onSignedIn,
  })
  const { error } = form.state
  const isOver = error instanceof ApiProblem && error.status === 401
  return (
    <div className="cb-stack">
      <ApiForm form={form} label={label} aria-label={label} isReady={!isOver} {...entryFormProps}>
        <CodeField {...form.field('code')} />
      </ApiForm>
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
