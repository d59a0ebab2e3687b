import { treaty } from '@elysiajs/eden/treaty2'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { ConsoleApi } from '../api-routes.ts'

/** The longest wait for an answer, so that nothing spins for ever. */
const answerWithinMs = 60_000
/** The same where a model answers first. */
const modelAnswersWithinMs = 160_000

/** The pages of a list, each after the cursor of the one before. */
export function readPages<At extends Readable>(at: At & Paged<At>, query?: QueryOf<At>) {
  return infiniteQueryOptions({
    queryKey: [...pathOf(at), 'pages', query ?? {}],
    queryFn: ({ pageParam, signal }) => {
      const next = pageParam === null ? {} : { cursor: pageParam }
      // As above.
      const answer = at.get({ query: Object.assign({}, query, next), fetch: { signal } } as never)
      return unwrap<AnswerOf<At> & Page>(answer as Promise<Answered<AnswerOf<At> & Page>>)
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

interface Page {
  nextCursor: string | null
}
type Paged<At extends Readable> = AnswerOf<At> extends Page ? unknown : never

const pathKey = Symbol('path')

/** A client of the console's API, typed by its routes: changing a route is a type error here. */
export const api = withPath(
  treaty<ConsoleApi>(location.origin, { onRequest: [refuseDots, endInTime], parseDate: false }).console.api,
  [],
)

/** An error from the service, or one made here when it did not answer. */
export class ApiProblem extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly requestId: string | null
  /** A message for each bad field; `field` is a dotted path. */
  readonly fields: { field: string; message: string }[]
  /** When to try again; null when the service does not say. */
  readonly retryAfterSeconds: number | null

  constructor(facts: {
    status: number
    code: string
    title: string
    detail: string
    requestId?: string | null
    fields?: { field: string; message: string }[]
    retryAfterSeconds?: number | null
  }) {
    super(facts.detail)
    this.name = 'ApiProblem'
    this.status = facts.status
    this.code = facts.code
    this.title = facts.title
    this.detail = facts.detail
    this.requestId = facts.requestId ?? null
    this.fields = facts.fields ?? []
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null
  }
}

export interface Answered<Answer> {
  data: Answer | null
  error: unknown
  response?: Response | undefined
}

interface Readable {
  get: (options: never) => Promise<Answered<unknown>>
}
type AnswerOf<At extends Readable> = Extract<Awaited<ReturnType<At['get']>>, { error: null }>['data']
type QueryOf<At extends Readable> =
  NonNullable<Parameters<At['get']>[0]> extends { query?: infer Query } ? Query : Record<string, never>

/** The answer of an address, `read(of.keys)`: its path is its key in the cache. */
export function read<At extends Readable>(at: At, query?: QueryOf<At>) {
  return queryOptions({
    queryKey: [...pathOf(at), query ?? {}],
    queryFn: ({ signal }): Promise<AnswerOf<At>> =>
      // `never`, since not every address takes a query; `QueryOf` has checked this one.
      unwrap<AnswerOf<At>>(at.get({ query, fetch: { signal } } as never) as Promise<Answered<AnswerOf<At>>>),
  })
}

/** The data of a successful answer. @throws ApiProblem for any other answer, or none */
export async function unwrap<Answer>(request: Promise<Answered<Answer>>): Promise<Answer> {
  const { data, error, response } = await request
  if (error) throw toProblem(error, response)
  // Without an error, null is what the route answered.
  return data as Answer
}

/** The parts of an address below `/console/api`: what its answer, and those below it, are cached under. */
export function pathOf(at: object): readonly string[] {
  return (at as { [pathKey]: readonly string[] })[pathKey]
}

/** The same client, each of whose addresses knows its path. */
function withPath<Node extends object>(node: Node, path: readonly string[]): Node {
  return new Proxy(node, {
    get: (target, name) =>
      // A step further is an address, too.
      name === pathKey ? path : withPath(Reflect.get(target, name) as object, [...path, String(name)]),
    apply: (target, self, given) => {
      const next = Reflect.apply(target as unknown as () => object, self, given)
      // `keys({ id })` is an address; `keys.get()` is an answer.
      return next instanceof Promise
        ? next
        : withPath(next, [...path, ...Object.values(given[0]).map(String)])
    },
  })
}

function toProblem(error: unknown, response: Response | undefined): ApiProblem {
  const value = error instanceof Error && 'value' in error ? error.value : error
  if (value instanceof ApiProblem) return value
  if (!response) return noAnswer()
  const told = isRecord(value) ? value : {}
  const retryAfter = Number(response.headers.get('retry-after'))
  return new ApiProblem({
    status: response.status,
    code: textOf(told.code) ?? 'unknown',
    title: textOf(told.title) ?? 'Something went wrong',
    detail: textOf(told.detail) ?? `The service answered with status ${response.status}.`,
    requestId: textOf(told.requestId) ?? response.headers.get('x-request-id'),
    fields: Array.isArray(told.errors) ? told.errors.filter(isFieldError) : [],
    retryAfterSeconds: retryAfter > 0 ? retryAfter : null,
  })
}

function noAnswer(): ApiProblem {
  return new ApiProblem({
    status: 0,
    code: 'no_answer',
    title: 'Callbook is not responding',
    detail: 'The request did not reach the service. Check your connection and try again.',
  })
}

/**
 * `..` is a valid call id, but a browser resolves it in a path before sending, so the request would go to another
 * address.
 */
function refuseDots(path: string): void {
  if (!path.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part))) return
  throw new ApiProblem({
    status: 0,
    code: 'bad_path',
    title: 'This call cannot be opened here',
    detail: 'A browser cannot request an ID made only of dots. Use the API instead.',
  })
}

function endInTime(path: string, { signal }: RequestInit): RequestInit {
  const end = AbortSignal.timeout(path.endsWith('/trial') ? modelAnswersWithinMs : answerWithinMs)
  return { signal: signal ? AbortSignal.any([signal, end]) : end }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isFieldError(value: unknown): value is { field: string; message: string } {
  return isRecord(value) && typeof value.field === 'string' && typeof value.message === 'string'
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
