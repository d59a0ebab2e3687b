import { Elysia } from 'elysia'
import type { IpRules } from '../auth/ip-rules.ts'
import type { Keys } from '../auth/keys.ts'
import type { KeyKind } from '../auth/token.ts'
import { AppError } from '../errors.ts'
import { callerContext } from './caller.ts'
import { clientAddress } from './client-address.ts'
import type { FactsByRequest } from './facts.ts'
import type { RateLimiter } from './rate-limit.ts'

/** The socket's other end, which only the runtime's server knows; null when there is no socket. */
export type PeerAddress = (request: Request) => string | null

interface AuthenticateOptions {
  keys: Keys
  facts: FactsByRequest
  peerAddress: PeerAddress
  trustedProxies: IpRules | null
  /** Null when there is no limit. */
  rateLimiter: RateLimiter | null
}

/**
 * Judges the key of every request under /v1, /ingest and /mcp. In `onRequest`, the only hook that runs before the
 * body is read: a bad key is 401 even when the body is malformed or the path unknown.
 */
export function authenticate({ keys, facts, peerAddress, trustedProxies, rateLimiter }: AuthenticateOptions) {
  return new Elysia({ name: 'authenticate' }).use(callerContext()).onRequest(async (context) => {
    const { request } = context
    const known = facts.of(request)
    const kind = kindOf(known.path)
    if (!kind) return
    const caller = await keys.verify(kind, request.headers.get('authorization'), () =>
      clientAddress({
        peer: peerAddress(request),
        forwardedFor: request.headers.get('x-forwarded-for'),
        trustedProxies,
      }),
    )
    known.keyId = caller.keyId
    context.caller = caller
    if (!rateLimiter) return
    const decision = rateLimiter.take(caller.keyId)
    known.headers = decision.headers
    if (!decision.allowed) throw tooManyRequests(decision.retryAfterSeconds)
  })
}

/** The kind of key a path asks for; null for a path that asks for none. */
function kindOf(path: string): KeyKind | null {
  if (path.startsWith('/v1/') || path === '/v1') return 'live'
  if (path.startsWith('/mcp/') || path === '/mcp') return 'live'
  if (path.startsWith('/ingest/') || path === '/ingest') return 'ingest'
  return null
}

function tooManyRequests(retryAfterSeconds: number | undefined): AppError {
  return new AppError('rate_limited', 'Too many requests', {
    detail: 'The limit of requests a minute for this key is used up.',
    retryAfterSeconds,
  })
}
