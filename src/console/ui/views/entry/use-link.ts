import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import type { LinkAnswer } from '../../../people/links.ts'
import { ApiProblem, api, unwrap } from '../../api.ts'

/** First part of the key of what a link opens. */
export const linkKey = 'link'

interface OpenedLink {
  /** Of the address' fragment, which no log of any server sees. */
  token: string
  /** What the link opens; null until it is known. */
  answer: LinkAnswer | null
  error: Error | null
  retry: () => void
}

/** The one-time link that led to this page. It is asked what it is for, which does not use it up. */
export function useLink(kind: LinkAnswer['kind']): OpenedLink {
  const hash = useLocation({ select: (location) => location.hash })
  // Kept: the address loses it when the link has been used.
  const [token] = useState(() => decoded(hash))
  const { data, error, refetch } = useQuery({
    queryKey: [linkKey, token],
    queryFn: async () => {
      if (!token) throw wrongLink('The address lacks its last part, from # on. Open the whole link.')
      const answer = await unwrap(api.links.check.post({ token }))
      if (answer.kind !== kind)
        throw wrongLink('The link is for something else. Open it as it was given to you.')
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
    // Not encoded as addresses are: no link of ours.
    return ''
  }
}

function wrongLink(detail: string): ApiProblem {
  return new ApiProblem({ status: 404, code: 'not_found', title: 'This link does not work', detail })
}
