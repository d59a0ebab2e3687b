import { Elysia } from 'elysia'
import { networkOf } from '../auth/ip-rules.ts'
import { AppError } from '../errors.ts'
import type { Admission } from './admission.ts'
import type { Authenticate } from './authenticate.ts'
import { callerContext } from './caller.ts'
import { isSafe } from './console-access.ts'
import { consoleContext } from './console-context.ts'
import type { ConsoleJudge } from './console-judge.ts'
import { isOwnPage } from './origins.ts'
import type { RequestContexts } from './request-context.ts'

interface JudgeOptions {
  contexts: RequestContexts
  admission: Admission
  /** Why the data here is too old to be served, in a sentence; null when it is not. */
  staleBecause: () => string | null
  authenticate: Authenticate
  judgeConsole: ConsoleJudge
  clientAddress: (request: Request) => string | null
  /** Where people reach the console, if that is configured. */
  publicUrl: string | null
}

/**
 * Judges every request for data, by its surface: freshness, load, then its key or its session. In `onRequest`, the
 * only hook that runs before the body is read and the route is found: a bad key is 401 even when the body is malformed
 * or the path unknown, and a console route that somebody forgets to protect is for owners.
 */
export function judge({
  contexts,
  admission,
  staleBecause,
  authenticate,
  judgeConsole,
  clientAddress,
  publicUrl,
}: JudgeOptions) {
  const ownOrigin = publicUrl === null ? null : new URL(publicUrl).origin
  return new Elysia({ name: 'judge' })
    .use(callerContext())
    .use(consoleContext())
    .onRequest(async (context) => {
      const { request } = context
      const known = contexts.of(request)
      const { keyKind, access } = known.surface
      if (!keyKind && !access) return
      const staleReason = staleBecause()
      if (staleReason !== null) throw stale(staleReason)
      admission.check()
      if (keyKind) {
        context.caller = await authenticate(request, known, keyKind)
        return
      }
      const changesSomething = !isSafe(request.method)
      if (changesSomething && !isOwnPage(request.headers, ownOrigin)) throw foreignPage()
      context.address = clientAddress(request)
      const { person, member } = await judgeConsole(request)
      if (person) context.person = person
      else if (changesSomething) admission.enterAsStranger(request, networkOf(context.address))
      if (member) context.member = member
    })
}

function stale(detail: string): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds: 5 })
}

function foreignPage(): AppError {
  return new AppError('forbidden', 'Forbidden', {
    detail: "Only the console's own pages may send this: Origin must be the service's own.",
  })
}
