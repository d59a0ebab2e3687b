import { useSearch } from '@tanstack/react-router'
import { useProvider } from '../../session.ts'
import { EntryFrame, useEntry } from './entry-frame.tsx'
import { SignInForm, useNeedsCode } from './sign-in-form.tsx'

const forPasswords =
  'No account yet? Ask an owner of your project to invite you. Forgot your password? An owner of your project, or whoever runs Callbook, can send you a link to set a new one.'
const forCodes =
  'Lost your app? Enter one of your backup codes instead. Without them, whoever runs Callbook can reset two-factor sign-in.'
const forProvider = 'Not let in? Ask an owner of your project to invite you, or whoever runs Callbook.'

export function SignInView() {
  const { from } = useSearch({ from: '/sign-in' })
  const enter = useEntry()
  const provider = useProvider()
  const [needsCode, setNeedsCode] = useNeedsCode()
  return (
    <EntryFrame
      title="Sign in to Callbook"
      text={from ? 'Sign in to continue where you left off.' : undefined}
      footer={needsCode ? forCodes : provider?.isOnly ? forProvider : forPasswords}
    >
      <SignInForm from={from} onSignedIn={(session) => enter(session, from)} onStep={setNeedsCode} />
    </EntryFrame>
  )
}
