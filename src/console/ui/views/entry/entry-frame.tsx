import { Box, Group, Skeleton, Stack, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { LinkAnswer } from '../../../../access/people/links.ts'
import type { SessionAnswer } from '../../../../access/people/session-answer.ts'
import { ApiProblem, api, unwrap } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import icon from '../../icon.svg'
import { ownPath } from '../../own-path.ts'
import { sessionQuery } from '../../session.ts'

interface EntryFrameProps {
  title: string
  /** A sentence or two. */
  text?: ReactNode
  children: ReactNode
  /** Below the form, for people who cannot use it. */
  footer?: ReactNode
}

/** The frame of a form shown before sign-in. */
export function EntryFrame({ title, text, children, footer }: EntryFrameProps) {
  useDocumentTitle(`${title} · Callbook`)
  return (
    <Group
      component="main"
      justify="center"
      align="flex-start"
      mih="100vh"
      p="max(32px, 14vh) 16px 32px"
      bg="var(--cb-surface)"
    >
      <Stack gap="lg" w="100%" maw={360}>
        <img src={icon} width={32} height={32} alt="Callbook" style={{ flex: 'none' }} />
        <Stack component="header" gap={4}>
          <Title order={1} fz={24} lh="32px" lts="-0.02em" dir="auto" className="cb-wrap">
            {title}
          </Title>
          {text && <p className="cb-dimmed">{text}</p>}
        </Stack>
        {children}
        {footer && (
          <Box component="footer" pt="md" c="dimmed" style={{ borderTop: '1px solid var(--cb-border)' }}>
            {footer}
          </Box>
        )}
      </Stack>
    </Group>
  )
}

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

interface LinkFrameProps {
  /** While the link is being checked, and when it does not work. */
  title: string
  error: Error | null
  onRetry: () => void
  /** How many fields the form will have. */
  fields: number
  /** What to do when the link does not work. */
  advice: ReactNode
}

/** Takes the place of a one-time link's form until the link has been checked. */
export function LinkFrame({ title, error, onRetry, fields, advice }: LinkFrameProps) {
  const isDead = error instanceof ApiProblem && error.status >= 400 && error.status < 429
  const footer = (
    <>
      {advice} <Link to="/sign-in">Sign in</Link>
    </>
  )
  return (
    <EntryFrame title={title} footer={error ? footer : undefined}>
      {error ? (
        <Problem error={error} {...(isDead ? { title: 'This link does not work' } : { onRetry })} />
      ) : (
        <div className="cb-stack" aria-busy>
          {Array.from({ length: fields }, (_, at) => String(at)).map((at) => (
            <Skeleton key={at} height={56} />
          ))}
          <Skeleton height={32} />
        </div>
      )}
    </EntryFrame>
  )
}
