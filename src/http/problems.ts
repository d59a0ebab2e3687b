import { Elysia } from 'elysia'
import { AppError, type ErrorCode, notFound } from '../errors.ts'
import type { RequestContexts } from './request-context.ts'
import type { RouteTable } from './route-table.ts'
import type { Protocol } from './surface.ts'

interface ProblemsOptions {
  contexts: RequestContexts
  routes: () => RouteTable
  /** The answer to a failure of the disk or the database; null for any other error. */
  answerTo: (error: unknown) => AppError | null
  /** Called with every internal error. */
  onUnexpected: (error: unknown, requestId: string) => void
}

/** The answer to an error that the handling of a request threw. */
export type AnswerError = (error: unknown, request: Request, isNoPath?: boolean) => Response

/** Gives every error one shape, application/problem+json (RFC 9457), or that of its path's protocol. */
export function errorAnswers({ contexts, routes, answerTo, onUnexpected }: ProblemsOptions): AnswerError {
  return (error, request, isNoPath = false) => {
    const { requestId, path, surface } = contexts.of(request)
    const problem = isNoPath
      ? notFound('There is nothing at this path. See /docs.')
      : (asAppError(error) ?? answerTo(error))
    const isOfRoute = problem !== null && errorsOfRoutes.has(problem.code)
    const expected = isOfRoute ? (wrongMethod(request.method, path, routes()) ?? problem) : problem
    if (!expected) onUnexpected(error, requestId)
    const answer = expected ?? internal()
    return surface.protocol?.errorAnswer?.(answer, request) ?? toAnswer(answer, requestId, surface.protocol)
  }
}

/** Answers every error that Elysia catches. */
export function problems(answerError: AnswerError) {
  return new Elysia({ name: 'problems' }).onError({ as: 'global' }, ({ error, code, request }) =>
    answerError(error, request, code === 'NOT_FOUND'),
  )
}

/** @param requestId the answer's `X-Request-Id` */
export function toAnswer(error: AppError, requestId: string, protocol: Protocol | null = null): Response {
  const type = protocol ? 'application/json' : 'application/problem+json'
  const headers: Record<string, string> = { ...error.headers, 'Content-Type': type }
  if (error.retryAfterSeconds !== undefined)
    headers['Retry-After'] = String(Math.ceil(error.retryAfterSeconds))
  const body = protocol ? protocol.errorBody(error) : toProblem(error, requestId)
  return new Response(JSON.stringify(body), { status: error.status, headers })
}

function toProblem(error: AppError, requestId: string): object {
  return {
    type: `/docs/errors#${error.code}`,
    title: error.title,
    status: error.status,
    detail: error.detail,
    code: error.code,
    requestId,
    errors: error.errors,
  }
}

/** Elysia wraps a body parser's error as the cause of its own. */
function asAppError(error: unknown): AppError | null {
  if (error instanceof AppError) return error
  return error instanceof Error && error.cause instanceof AppError ? error.cause : null
}

/** Hints for methods that other services offer on such paths. */
const hints: readonly (readonly [RegExp, string])[] = [
  [
    /^(POST|PUT|PATCH) \/v1\/calls\b/,
    'Write calls with an ingest key: one with PUT /ingest/calls/{id}, many with POST /ingest/calls. See /docs.',
  ],
  [/^\w+ \/ingest\/calls\/./, 'PUT merges: absent fields stay as they are. See /docs.'],
]

/** Errors of a route that was found by another method's `:id`. */
const errorsOfRoutes: ReadonlySet<ErrorCode> = new Set([
  'not_found',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
])

/** Also for a literal path that matches another method's `:id`, such as GET /v1/knowledge/search. */
function wrongMethod(method: string, path: string, routes: RouteTable): AppError | null {
  const methods = routes.methodsOf(path)
  if (methods.length === 0 || methods.includes(method)) return null
  const hint = hints.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1] ?? 'See /docs.'
  return new AppError('method_not_allowed', 'Method not allowed', {
    detail: `This path accepts ${methods.join(', ')}. ${hint}`,
    headers: { Allow: methods.join(', ') },
  })
}

/** Replaces an error that clients must not see. */
export function internal(): AppError {
  return new AppError('internal', 'Internal error', {
    detail: 'Something went wrong on our side. The log has the details under this request id.',
  })
}
