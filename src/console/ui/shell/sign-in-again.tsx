import { Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { SessionAnswer } from '../../people/session-answer.ts'
import { sessionEndedQuery, sessionQuery, usePerson } from '../session.ts'
import { SignInForm } from '../views/entry/sign-in-form.tsx'

/** Over the page when the session has ended: whoever signs in again finds what they were writing. */
export default function SignInAgain() {
  const queryClient = useQueryClient()
  const person = usePerson()
  const proceed = (session: SessionAnswer) => {
    // Somebody else must not see what this page holds.
    if (session.person?.id !== person.id) return location.reload()
    queryClient.setQueryData(sessionQuery.queryKey, session)
    queryClient.setQueryData(sessionEndedQuery.queryKey, false)
    void queryClient.invalidateQueries()
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
        <p className="cb-dimmed">Your session has ended. Your unsaved changes are still here.</p>
        <SignInForm onSignedIn={proceed} inNewTab />
        <a href="/console/sign-in">Sign in as someone else</a>
      </div>
    </Modal>
  )
}
