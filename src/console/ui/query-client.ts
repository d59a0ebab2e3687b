import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiProblem } from './api.ts'

const freshForMs = 15_000
const retriesMax = 2

/**
 * Retries failures that may be temporary, never an answer of the service.
 *
 * @param on.signedOut called when an answer says that the session has ended, except for queries with the meta `isEarly`,
 * which are sent before it is known whether anyone is signed in
 * @param on.twoFactorRequired the same for a person who must set up a second factor first
 * @param on.changed called after each change that succeeded: its answer may have begun a new session
 */
export function createQueryClient(on: {
  signedOut: () => void
  twoFactorRequired: () => void
  changed: () => void
}): QueryClient {
  const judge = (error: unknown) => {
    if (!(error instanceof ApiProblem)) return
    if (isSignedOut(error)) on.signedOut()
    if (error.code === 'two_factor_required') on.twoFactorRequired()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError: (error, { meta }) => meta?.isEarly !== true && judge(error) }),
    mutationCache: new MutationCache({ onError: judge, onSuccess: on.changed }),
    defaultOptions: {
      queries: {
        // A machine without internet can still reach a local service.
        networkMode: 'always',
        staleTime: freshForMs,
        retry: (failures, error) => failures < (isSignedOut(error) ? 1 : retriesMax) && mayPass(error),
        refetchOnWindowFocus: true,
        refetchOnReconnect: true,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  })
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'not_signed_in'
}

function mayPass(error: unknown): boolean {
  // A request under way may be replacing the session. Its answer brings the new cookie.
  return !(error instanceof ApiProblem) || error.status === 0 || error.status >= 500 || isSignedOut(error)
}
