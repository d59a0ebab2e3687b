import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import type { LinkAnswer } from '../../../../access/people/links.ts'
import { ApiProblem, api, unwrap } from '../../api.ts'

/** The first part of the query key. */
export const linkKey = 'link'

interface OpenedLink {
  /** From the address's fragment, which is never sent to a server. */
  token: string
  /** Null until the link has been checked. */
  answer: LinkAnswer | null
  error: Error | null
  retry: () => void
}

/** The one-time link that led to this page. Checking it does not use it up. */
export function useLink(kind: LinkAnswer['kind']): OpenedLink {
  const hash = useLocation({ select: (location) => location.hash })
  // Kept in state: the address loses it when the link has been used. Another link may be opened in the same tab.
  const [token, setToken] = useState(() => decoded(hash))
  const given = decoded(hash)
  if (given && given !== token) setToken(given)
  const { data, error, refetch } = useQuery({
    queryKey: [linkKey, token],
    queryFn: async () => {
      if (!token) throw wrongLink('The part of the link after # is missing. Open the complete link.')
      const answer = await unwrap(api.links.check.post({ token }))
      if (answer.kind !== kind)
        throw wrongLink('This link belongs to another page. Open it exactly as you received it.')
      return answer
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  return { token, answer: data ?? null, error, retry: () => void refetch() }
}

function decoded(hash: string): string {
  try {
    return decodeURIComponent(hash.replace(/^#/, ''))
  } catch {
    // Badly encoded: not one of our links.
    return ''
  }
}

function wrongLink(detail: string): ApiProblem {
  return new ApiProblem({ status: 404, code: 'not_found', title: 'This link does not work', detail })
}
