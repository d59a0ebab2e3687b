import { Elysia } from 'elysia'
import { AppError } from '../errors.ts'
import type { FactsByRequest } from './facts.ts'
import type { RouteTable } from './route-table.ts'

interface ProblemsOptions {
  facts: FactsByRequest
  routes: () => RouteTable
  /** Told of everything that is answered as an internal error. */
  onUnexpected: (error: unknown, requestId: string) => void
}

/** Every error of every route becomes one shape: application/problem+json (RFC 9457). */
export function problems({ facts, routes, onUnexpected }: ProblemsOptions) {
  return new Elysia({ name: 'problems' }).onError({ as: 'global' }, ({ error, code, request }) => {
    const { requestId } = facts.of(request)
    const problem = code === 'NOT_FOUND' ? noSuchPath() : asAppError(error)
    const known = problem?.code === 'not_found' ? (wrongMethod(request, routes()) ?? problem) : problem
    if (!known) onUnexpected(error, requestId)
    return toProblem(known ?? internal(), requestId)
  })
}

/** @param requestId the id that the answer's `X-Request-Id` bears */
export function toProblem(error: AppError, requestId: string): Response {
  const headers: Record<string, string> = { ...error.headers, 'Content-Type': 'application/problem+json' }
  if (error.retryAfterSeconds !== undefined)
    headers['Retry-After'] = String(Math.ceil(error.retryAfterSeconds))
  const problem = {
    type: `/docs/errors#${error.code}`,
    title: error.title,
    status: error.status,
    detail: error.detail,
    code: error.code,
    requestId,
    errors: error.errors,
  }
  return new Response(JSON.stringify(problem), { status: error.status, headers })
}

/** Elysia wraps what a body parser throws, so the error itself may be the cause. */
function asAppError(error: unknown): AppError | null {
  if (error instanceof AppError) return error
  return error instanceof Error && error.cause instanceof AppError ? error.cause : null
}

function noSuchPath(): AppError {
  return new AppError('not_found', 'Not found', { detail: 'There is nothing at this path; see /docs.' })
}

/** Also for a literal path that another method takes for an id, such as GET /v1/knowledge/search. */
function wrongMethod(request: Request, routes: RouteTable): AppError | null {
  const allowed = routes.methodsOf(request)
  if (allowed.length === 0 || allowed.includes(request.method)) return null
  return new AppError('method_not_allowed', 'Method not allowed', {
    detail: `This path takes ${allowed.join(', ')}.`,
    headers: { Allow: allowed.join(', ') },
  })
}

function internal(): AppError {
  return new AppError('internal', 'Internal error', {
    detail: 'Something went wrong on our side; the log has it under this request id.',
  })
}
