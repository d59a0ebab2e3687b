import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { Problem } from '../../components/problem.tsx'
import { sessionQuery } from '../../session.ts'
import { signOut } from '../../shell/sign-out.ts'
import { EntryFrame, useEntry } from '../entry/entry-frame.tsx'
import { TwoFactorSteps } from './two-factor.tsx'

/** Where people set up a second factor that the console's owner requires. Not among the views of entry, which load less. */
export function SecondFactorView() {
  const { from } = useSearch({ from: '/second-factor' })
  const queryClient = useQueryClient()
  const enter = useEntry()
  const { mutate: goOn, error } = useMutation({
    mutationFn: async () => {
      await queryClient.invalidateQueries(sessionQuery)
      enter(await queryClient.fetchQuery(sessionQuery), from)
    },
  })
  return (
    <EntryFrame
      title="Set up two-factor sign-in"
      text="The owner of this console requires it. From now on, sign-in also asks for a code from your authenticator app."
    >
      {error && <Problem error={error} />}
      <TwoFactorSteps onDone={goOn} onCancel={() => void signOut()} cancelLabel="Sign out" />
    </EntryFrame>
  )
}
