import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import type { SessionAnswer } from '../../../../access/people/session-answer.ts'
import { ownPath } from '../../own-path.ts'
import { sessionQuery } from '../../session.ts'
import { linkKey } from './use-link.ts'

/** Continues after sign-in: to where the person was, or to their projects. */
export function useEntry(): (session: SessionAnswer, from?: string) => void {
  const queryClient = useQueryClient()
  const router = useRouter()
  const navigate = useNavigate()
  return (session, from) => {
    // Cached answers belong to nobody or somebody else. The link just used is kept, so that it is not checked again.
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== linkKey })
    queryClient.setQueryData(sessionQuery.queryKey, session)
    const path = ownPath(from)
    // Replaces the address, so that going back does not lead to a link with a token.
    if (path) router.history.replace(`/console${path}`)
    else void navigate({ to: '/', replace: true })
  }
}
