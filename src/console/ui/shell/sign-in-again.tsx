import { Modal } from '@mantine/core'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { SessionAnswer } from '../../../access/people/session-answer.ts'
import { ApiProblem } from '../api.ts'
import { focusedOrMenu } from '../components/use-focus.ts'
import { sessionEndedQuery, sessionQuery, usePerson } from '../session.ts'
import { SignInForm } from '../views/entry/sign-in-form.tsx'

/** Sends again what was refused because the session had ended, in the same order. */
async function repeatRefused(queryClient: QueryClient): Promise<void> {
  for (const mutation of queryClient.getMutationCache().getAll()) {
    const { error, variables } = mutation.state
    // Its own page shows what becomes of it.
    if (error instanceof ApiProblem && error.code === 'not_signed_in')
      await mutation.execute(variables).catch(() => undefined)
  }
}

/** Over the page when the session has ended: whoever signs in again finds what they were writing. */
export default function SignInAgain() {
  const queryClient = useQueryClient()
  const person = usePerson()
  // It appears open, and then a dialog returns no focus itself.
  const [before] = useState(focusedOrMenu)
  useEffect(() => () => before?.focus({ preventScroll: true }), [before])
  useEffect(
    () => () => {
      // The session is back: somebody has signed in here or in another tab.
      if (queryClient.getQueryData(sessionEndedQuery.queryKey)) return
      void queryClient.invalidateQueries()
      void repeatRefused(queryClient)
    },
    [queryClient],
  )
  const proceed = (session: SessionAnswer) => {
    // Somebody else must not see what this page holds.
    if (session.person?.id !== person.id) return location.reload()
    queryClient.setQueryData(sessionQuery.queryKey, session)
    queryClient.setQueryData(sessionEndedQuery.queryKey, false)
  }
  return (
    <Modal
      opened
      onClose={() => undefined}
      title="Sign in again"
      size={400}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      // Hides the page: the session may have ended because somebody took the access away.
      overlayProps={{ backgroundOpacity: 1, color: 'var(--mantine-color-body)' }}
      zIndex={400}
    >
      <div className="cb-stack">
        <p className="cb-dimmed">
          Your session has ended. Your unsaved changes are still here, and what you have just sent is sent
          again.
        </p>
        <SignInForm email={person.email} onSignedIn={proceed} inNewTab />
        <a href="/console/sign-in">Sign in as someone else</a>
      </div>
    </Modal>
  )
}
