import { useSearch } from '@tanstack/react-router'
import { EntryFrame } from './entry-frame.tsx'
import { SignInForm, useNeedsCode } from './sign-in-form.tsx'
import { useEntry } from './use-entry.ts'

export function SignInView() {
  const { from } = useSearch({ from: '/sign-in' })
  const enter = useEntry()
  const [needsCode, setNeedsCode] = useNeedsCode()
  return (
    <EntryFrame
      title="Sign in to Callbook"
      text={from ? 'Sign in to continue where you left off.' : undefined}
      footer={
        needsCode
          ? 'Lost your app? Enter one of your backup codes instead. Without them, whoever runs Callbook can reset two-factor sign-in.'
          : 'No account yet? Ask an owner of your project to invite you. Forgot your password? An owner of your project, or whoever runs Callbook, can send you a link to set a new one.'
      }
    >
      <SignInForm onSignedIn={(session) => enter(session, from)} onStep={setNeedsCode} />
    </EntryFrame>
  )
}
