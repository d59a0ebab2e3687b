import { useSearch } from '@tanstack/react-router'
import { EntryFrame } from './entry-frame.tsx'
import { SignInForm } from './sign-in-form.tsx'
import { useEntry } from './use-entry.ts'

/** The way in for those who have an account. */
export function SignInView() {
  const { from } = useSearch({ from: '/sign-in' })
  const enter = useEntry()
  return (
    <EntryFrame
      title="Sign in to Callbook"
      text={from ? 'Sign in to go on where you were.' : undefined}
      footer="No account, or the password is gone? An owner of your project, or whoever runs Callbook, has a link for you."
    >
      <SignInForm onSignedIn={(session) => enter(session, from)} />
    </EntryFrame>
  )
}
