import { Elysia } from 'elysia'
import type { KeyKind } from '../auth/token.ts'
import { AppError } from '../errors.ts'
import type { Caller } from '../identity.ts'
import type { Admission } from './admission.ts'
import { callerContext } from './caller.ts'
import type { FactsByRequest } from './facts.ts'
import { isUnder, type Protocol, protocolAt } from './protocol.ts'
import type { RateLimiter } from './rate-limit.ts'

interface AuthenticateOptions {
  admission: Admission
  keys: {
    verify(kind: KeyKind, authorization: string | null, clientAddress: () => string | null): Promise<Caller>
  }
  facts: FactsByRequest
  /** Where the key may come by another way than the Authorization header. */
  protocols: readonly Protocol[]
  clientAddress: (request: Request) => string | null
  /** Null when there is no limit. */
  rateLimiter: RateLimiter | null
}

/**
 * Judges the key of every request whose path asks for one. In `onRequest`, the only hook that runs before the
 * body is read: a bad key is 401 even when the body is malformed or the path unknown.
 */
export function authenticate({
  admission,
  keys,
  facts,
  protocols,
  clientAddress,
  rateLimiter,
}: AuthenticateOptions) {
  return new Elysia({ name: 'authenticate' }).use(callerContext()).onRequest(async (context) => {
    const { request } = context
    const known = facts.of(request)
    const kind = kindOf(known.path)
    if (!kind) return
    admission.check()
    const authorizationOf = protocolAt(protocols, known.path)?.authorizationOf ?? authorizationHeader
    const caller = await keys.verify(kind, authorizationOf(request.headers), () => clientAddress(request))
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
  if (['/v1', '/integrations', '/mcp'].some((prefix) => isUnder(path, prefix))) return 'live'
  if (isUnder(path, '/ingest')) return 'ingest'
  return null
}

function authorizationHeader(headers: Headers): string | null {
  return headers.get('authorization')
}

function tooManyRequests(retryAfterSeconds: number | undefined): AppError {
  return new AppError('rate_limited', 'Too many requests', {
    detail: 'The limit of requests a minute for this key is used up.',
    retryAfterSeconds,
  })
}
