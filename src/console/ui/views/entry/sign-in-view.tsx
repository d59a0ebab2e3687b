import { useSearch } from '@tanstack/react-router'
import { EntryFrame } from './entry-frame.tsx'
import { SignInForm } from './sign-in-form.tsx'
import { useEntry } from './use-entry.ts'

export function SignInView() {
  const { from } = useSearch({ from: '/sign-in' })
  const enter = useEntry()
  return (
    <EntryFrame
      title="Sign in to Callbook"
      text={from ? 'Sign in to continue where you were.' : undefined}
      footer="No account yet? Ask an owner of your project for an invitation. Forgot your password? Ask an owner for a sign-in link."
    >
      <SignInForm onSignedIn={(session) => enter(session, from)} />
    </EntryFrame>
  )
}
