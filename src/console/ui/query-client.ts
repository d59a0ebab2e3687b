import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiProblem } from './api.ts'

const freshForMs = 15_000
const retriesMax = 2

/**
 * Asks again what may have failed by chance alone, never what the service has judged.
 *
 * @param onSignedOut called when an answer says that the session has ended
 */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const judge = (error: unknown) => {
    if (error instanceof ApiProblem && error.code === 'not_signed_in') onSignedOut()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError: judge }),
    mutationCache: new MutationCache({ onError: judge }),
    defaultOptions: {
      queries: {
        // A machine without internet still reaches a service of its own.
        networkMode: 'always',
        staleTime: freshForMs,
        retry: (failures, error) => failures < retriesMax && mayPass(error),
        refetchOnWindowFocus: true,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  })
}

function mayPass(error: unknown): boolean {
  return !(error instanceof ApiProblem) || error.status === 0 || error.status >= 500
}
