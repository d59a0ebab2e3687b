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
      text={from ? 'Sign in to continue where you left off.' : undefined}
      footer="No account yet? Ask an owner of your project to invite you. Forgot your password? An owner of your project, or whoever runs Callbook, can send you a link to set a new one."
    >
      <SignInForm onSignedIn={(session) => enter(session, from)} />
    </EntryFrame>
  )
}
