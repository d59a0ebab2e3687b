import { Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiProblem, api, unwrap } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { ownPath } from '../../own-path.ts'
import { useProvider } from '../../session.ts'
import { inTab } from '../../storage.ts'
import { EntryFrame, linkKey, useEntry } from './entry-frame.tsx'

/** Sends the browser to the provider, and signs in with the answer when the provider has sent it back. */
export function ProviderView() {
  const name = useProvider()?.name ?? 'the provider'
  const enter = useEntry()
  // As it was opened: entering replaces it.
  const [{ search, hash }] = useState(() => ({ search: location.search, hash: location.hash }))
  const { error, refetch } = useQuery({
    queryKey: [linkKey, 'provider', search],
    queryFn: async () => {
      const params = new URLSearchParams(search)
      // Without a state it is no answer of the provider's, but must not begin again and again.
      if (['state', 'code', 'error'].some((name) => params.has(name))) {
        const { from, invitation } = detour.read()
        const session = await unwrap(api.session.oidc.return.post({ query: search, ...invitation }))
        detour.forget()
        enter(session, from)
      } else {
        detour.save({ from: params.get('from'), invitation: hash.slice(1) })
        const { url } = await unwrap(api.session.oidc.post({}))
        location.replace(url)
      }
      return null
    },
    retry: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const isAway = error instanceof ApiProblem && (error.status === 0 || error.status >= 500)
  return (
    <EntryFrame
      title={`Sign in with ${name}`}
      footer={error ? <Link to="/sign-in">Back to sign-in</Link> : undefined}
    >
      {error ? (
        <Problem
          error={error}
          title="You are not signed in"
          {...(isAway ? { onRetry: () => void refetch() } : {})}
        />
      ) : (
        <Loader size="sm" aria-label="Signing in" />
      )}
    </EntryFrame>
  )
}

const key = 'callbook-detour'

/** What this tab was about before it left for the provider. */
interface Detour {
  /** The page to return to. */
  from: string | undefined
  /** The invitation to accept, as the request has it. */
  invitation: { invitation?: string }
}

/** Kept in the tab, so that neither is told to the provider. */
const detour = {
  save: (about: { from: string | null; invitation: string }) => inTab.save(key, JSON.stringify(about)),
  read(): Detour {
    const { from, invitation } = Object(inTab.readJson(key))
    return {
      from: ownPath(from) ?? undefined,
      invitation: invitation ? { invitation: String(invitation) } : {},
    }
  },
  forget: () => inTab.drop(key),
}
