import { Elysia } from 'elysia'
import { networkOf } from '../access/keys/ip-rules.ts'
import type { KeyKind } from '../access/keys/token.ts'
import { AppError, forbidden, unavailable } from '../errors.ts'
import { type Caller, type Permission, scopeAllows, scopesFor } from '../identity.ts'
import type { Admission } from './admission.ts'
import type { AuthenticatePerson } from './authenticate-person.ts'
import { callerContext } from './caller.ts'
import { isSafe } from './console-access.ts'
import { consoleContext } from './console-context.ts'
import { allowPage, preflightAnswer } from './cross-origin.ts'
import { isOwnPage } from './origins.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { RequestContext, RequestContexts } from './request-context.ts'

interface KeyOptions {
  admission: Pick<Admission, 'check'>
  /** Why the local data is too old to be served, as a sentence; null if it is not. */
  staleBecause: () => string | null
  keys: {
    verify(kind: KeyKind, authorization: string | null, clientAddress: () => string | null): Promise<Caller>
  }
  limitRate: LimitRate
  clientAddress: (request: Request) => string | null
}

/**
 * Checks whether requests are answered now, then the request's key. @throws the problems of a bad key, unavailable,
 * rate_limited, insufficient_scope
 */
export type AuthenticateKey = (kind: KeyKind, request: Request, context: RequestContext) => Promise<Caller>

export function keyAuthentication(options: KeyOptions): AuthenticateKey {
  const { keys, limitRate, clientAddress } = options
  return async (kind, request, context) => {
    requireReady(options)
    const authorization = authorizationOf(request.headers, context)
    const caller = await keys.verify(kind, authorization, () => clientAddress(request))
    context.keyId = caller.keyId
    context.project = caller.project
    context.party = caller.projectId
    allowPage(request, context, caller.allowedOrigins)
    limitRate(request, caller.keyId)
    if (context.surface.permission !== null) requireScope(context.surface.permission, caller)
    return caller
  }
}

/** Counts a request of a key or a source. @throws rate_limited */
export type LimitRate = (request: Request, id: string) => void

/** @param rateLimiter null when there is no limit */
export function rateLimit(rateLimiter: RateLimiter | null, contexts: RequestContexts): LimitRate {
  return (request, id) => {
    if (!rateLimiter) return
    const { allowed, headers, retryAfterSeconds } = rateLimiter.take(id)
    const context = contexts.of(request)
    context.headers = { ...context.headers, ...headers }
    if (allowed) return
    throw new AppError('rate_limited', 'Too many requests', {
      detail: 'This key or source has reached its limit of requests per minute.',
      retryAfterSeconds,
    })
  }
}

interface AuthenticateOptions extends Pick<KeyOptions, 'staleBecause' | 'clientAddress'> {
  contexts: RequestContexts
  admission: Admission
  authenticateKey: AuthenticateKey
  authenticatePerson: AuthenticatePerson
  /** The console's public URL, if one is configured. */
  publicUrl: string | null
}

/**
 * Checks every request by its surface: freshness, load, then its key or session. In `onRequest`, the only hook before
 * the body is read and the route is found: a bad key is 401 even if the body is malformed or the path unknown, and a
 * console route that somebody forgets to protect is only for owners.
 */
export function authenticate(options: AuthenticateOptions) {
  const { contexts, admission, authenticateKey, authenticatePerson, clientAddress, publicUrl } = options
  const ownOrigin = publicUrl === null ? null : new URL(publicUrl).origin
  return new Elysia({ name: 'authenticate' })
    .use(callerContext())
    .use(consoleContext())
    .onRequest(async (context) => {
      const { request } = context
      const requestContext = contexts.of(request)
      const { keyKind, access, isForSources } = requestContext.surface
      if (!keyKind && !access && !isForSources) return
      const preflight = preflightAnswer(request, contexts)
      if (preflight) return preflight
      if (keyKind) {
        context.caller = await authenticateKey(keyKind, request, requestContext)
        return
      }
      requireReady(options)
      if (isForSources) return
      const changesSomething = !isSafe(request.method)
      if (changesSomething && !isOwnPage(request.headers, ownOrigin)) throw foreignPage()
      context.address = clientAddress(request)
      const { person, member } = await authenticatePerson(request)
      requestContext.party = member?.projectId ?? person?.personId ?? networkOf(context.address)
      if (person) context.person = person
      else if (changesSomething) admission.enterUnverified(request, 'people', networkOf(context.address))
      if (!member) return
      context.member = member
      requestContext.project = member.publicId
    })
}

/** @throws unavailable while the local data is too old, or too many requests are being answered */
function requireReady({ staleBecause, admission }: Pick<KeyOptions, 'staleBecause' | 'admission'>): void {
  const staleReason = staleBecause()
  if (staleReason !== null) throw unavailable(staleReason, 5)
  admission.check()
}

function authorizationOf(headers: Headers, { surface: { protocol } }: RequestContext): string | null {
  return protocol?.authorizationOf ? protocol.authorizationOf(headers) : headers.get('authorization')
}

/** @throws insufficient_scope */
function requireScope(permission: Permission, { scope }: Caller): void {
  if (scopeAllows(scope, permission)) return
  throw new AppError('insufficient_scope', 'Key does not allow this', {
    detail: `This needs a key with the scope ${scopesFor(permission)}. The scope of this key is ${scope}.`,
  })
}

function foreignPage(): AppError {
  return forbidden("Only the console's own pages may send this: Origin must be the service's own.")
}
