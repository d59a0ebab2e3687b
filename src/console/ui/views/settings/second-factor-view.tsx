import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api, unwrap } from '../../api.ts'
import { sessionQuery } from '../../session.ts'
import { EntryFrame } from '../entry/entry-frame.tsx'
import { useEntry } from '../entry/use-entry.ts'
import { TwoFactorSteps } from './two-factor.tsx'

/** Where people set up a second factor that the console's owner requires. Not among the views of entry, which load less. */
export function SecondFactorView() {
  const { from } = useSearch({ from: '/second-factor' })
  const queryClient = useQueryClient()
  const enter = useEntry()
  const goOn = async () => {
    await queryClient.invalidateQueries(sessionQuery)
    enter(await queryClient.fetchQuery(sessionQuery), from)
  }
  const signOut = async () => {
    await unwrap(api.session.delete())
    location.assign('/console/sign-in')
  }
  return (
    <EntryFrame
      title="Set up two-factor sign-in"
      text="The owner of this console requires it. From now on, sign-in also asks for a code from your authenticator app."
    >
      <TwoFactorSteps onDone={() => void goOn()} onCancel={() => void signOut()} cancelLabel="Sign out" />
    </EntryFrame>
  )
}
