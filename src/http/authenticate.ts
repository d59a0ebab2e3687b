import type { Caller, Keys } from '../auth/keys.ts'
import type { KeyKind } from '../auth/token.ts'
import { AppError } from '../errors.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { RequestContext } from './request-context.ts'

interface AuthenticateOptions {
  keys: Keys
  clientAddress: (request: Request) => string | null
  /** Null when there is no limit. */
  rateLimiter: RateLimiter | null
}

/** Finds the caller behind a request's key. @throws what `Keys.verify` throws, and rate_limited */
export type Authenticate = (request: Request, context: RequestContext, kind: KeyKind) => Promise<Caller>

export function authenticate({ keys, clientAddress, rateLimiter }: AuthenticateOptions): Authenticate {
  return async (request, context, kind) => {
    const { headers } = request
    const { protocol } = context.surface
    const authorization = protocol?.authorizationOf
      ? protocol.authorizationOf(headers)
      : headers.get('authorization')
    const caller = await keys.verify(kind, authorization, () => clientAddress(request))
    context.keyId = caller.keyId
    if (!rateLimiter) return caller
    const decision = rateLimiter.take(caller.keyId)
    context.headers = decision.headers
    if (!decision.allowed) throw tooManyRequests(decision.retryAfterSeconds)
    return caller
  }
}

function tooManyRequests(retryAfterSeconds: number | undefined): AppError {
  return new AppError('rate_limited', 'Too many requests', {
    detail: 'The limit of requests a minute for this key is used up.',
    retryAfterSeconds,
  })
}
