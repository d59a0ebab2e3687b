import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import type { SessionAnswer } from '../../../people/session-answer.ts'
import { ownPath } from '../../own-path.ts'
import { sessionQuery } from '../../session.ts'
import { linkKey } from './use-link.ts'

/** Goes on as the person who has just been signed in: to where they were, or to their projects. */
export function useEntry(): (session: SessionAnswer, from?: string) => void {
  const queryClient = useQueryClient()
  const router = useRouter()
  const navigate = useNavigate()
  return (session, from) => {
    // Nothing that was asked as nobody, or as somebody else, is true now. A link that was just used is not asked again.
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== linkKey })
    queryClient.setQueryData(sessionQuery.queryKey, session)
    const path = ownPath(from)
    // Replaced, so that no step back leads to a link with a token in it.
    if (path) router.history.replace(`/console${path}`)
    else void navigate({ to: '/', replace: true })
  }
}
