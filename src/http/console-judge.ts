import { Elysia } from 'elysia'
import { networkOf } from '../auth/ip-rules.ts'
import { AppError, consoleOwnerOnly, ownersOnly } from '../errors.ts'
import type { Admission } from './admission.ts'
import { consoleAccess, isSafe } from './console-access.ts'
import { consoleContext, type Membership, type SignedIn } from './console-context.ts'
import type { FactsByRequest } from './facts.ts'

interface ConsoleJudgeOptions {
  /** The person whom the request's cookies sign in; null for nobody. */
  signedIn(cookies: string | null): Promise<SignedIn | null>
  /** Null when there is no such project, or the person is not in it. */
  membership(personId: string, publicProjectId: string): Promise<Membership | null>
  /** The id of the person who owns the console; null when nobody does. */
  consoleOwner(): Promise<string | null>
  facts: FactsByRequest
}

/** Who sends a request under /console/api. Throws what they are answered who may not send it. */
export type ConsoleJudge = (request: Request) => Promise<{ person?: SignedIn; member?: Membership }>

/** Judges by cookie and path alone; what is not under /console/api passes. */
export function consoleJudge({
  signedIn,
  membership,
  consoleOwner,
  facts,
}: ConsoleJudgeOptions): ConsoleJudge {
  return async (request) => {
    const access = consoleAccess(request.method, facts.of(request).path)
    if (!access) return {}
    const person = await signedIn(request.headers.get('cookie'))
    if (access.for === 'everyone') return person ? { person } : {}
    if (!person) throw notSignedIn()
    if (access.for === 'signedIn') return { person }
    if (access.for === 'consoleOwner') {
      if ((await consoleOwner()) !== person.personId) throw consoleOwnerOnly()
      return { person }
    }
    const member = await membership(person.personId, access.project)
    if (!member) throw noSuchProject()
    if (access.for === 'owners' && member.role !== 'owner') throw ownersOnly()
    return { person, member }
  }
}

interface ConsoleGuardOptions {
  admission: Admission
  judge: ConsoleJudge
  facts: FactsByRequest
  clientAddress: (request: Request) => string | null
  /** Where people reach the console, if that is configured. */
  publicUrl: string | null
}

/**
 * Judges every request under /console/api by its cookie, its origin and its path alone. In `onRequest`, before the
 * body is read and the route is found: a route that somebody forgets to protect is for owners.
 */
export function consoleGuard({ admission, judge, facts, clientAddress, publicUrl }: ConsoleGuardOptions) {
  const ownOrigin = publicUrl === null ? null : new URL(publicUrl).origin
  return new Elysia({ name: 'console-guard' }).use(consoleContext()).onRequest(async (context) => {
    const { request } = context
    if (!consoleAccess(request.method, facts.of(request).path)) return
    admission.check()
    if (!isSafe(request.method) && !isOwnPage(request.headers, ownOrigin)) throw foreignPage()
    context.address = clientAddress(request)
    const { person, member } = await judge(request)
    if (person) context.person = person
    else if (!isSafe(request.method)) admission.enterAsStranger(request, networkOf(context.address))
    if (member) context.member = member
  })
}

/**
 * Whether a page of ours sent the request, which browsers tell of every request that changes something. A name that
 * was rebound to our address is in both `Origin` and `Host`, but the cookies of our own name do not come with it.
 * Where people come by https, a page that came by http is not ours: anybody on its way may have written it.
 * https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html
 */
function isOwnPage(headers: Headers, ownOrigin: string | null): boolean {
  if (headers.get('sec-fetch-site') === 'same-origin') return true
  const origin = headers.get('origin')
  if (origin === null) return false
  if (origin === ownOrigin) return true
  const schemes = ownOrigin?.startsWith('https:') ? /^https:\/\// : /^https?:\/\//
  return schemes.test(origin) && hostOf(origin) === headers.get('host')?.toLowerCase()
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}

function foreignPage(): AppError {
  return new AppError('forbidden', 'Forbidden', {
    detail: "Only the console's own pages may send this: Origin must be the service's own.",
  })
}

function notSignedIn(): AppError {
  return new AppError('not_signed_in', 'Sign in required', {
    detail: 'Nobody is signed in, or the session has ended.',
    headers: { 'WWW-Authenticate': 'Cookie realm="Callbook console"' },
  })
}

function noSuchProject(): AppError {
  return new AppError('not_found', 'Not found', {
    detail: 'There is no such project, or you are not a member of it.',
  })
}
