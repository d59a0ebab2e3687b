/** Every error code of the API, with its HTTP status. */
export const errorStatus = {
  missing_authorization: 401,
  invalid_api_key_format: 401,
  invalid_api_key: 401,
  api_key_expired: 401,
  invalid_signature: 401,
  not_signed_in: 401,
  wrong_credentials: 401,
  ip_address_not_allowed: 403,
  insufficient_scope: 403,
  forbidden: 403,
  two_factor_required: 403,
  invalid_request: 400,
  not_found: 404,
  method_not_allowed: 405,
  transcript_gap: 409,
  timeline_gap: 409,
  call_on_hold: 409,
  call_is_live: 409,
  import_is_running: 409,
  note_has_changed: 409,
  words_of_a_call: 409,
  call_was_deleted: 410,
  item_was_deleted: 410,
  item_has_changed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  idempotency_key_in_use: 409,
  file_cannot_be_read: 422,
  no_such_turn: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  insufficient_storage: 507,
} as const

export type ErrorCode = keyof typeof errorStatus

/** What is wrong with one field of a request; `field` is a dotted path such as `transcript.3.role`. */
export interface FieldError {
  field: string
  message: string
}

export interface AppErrorOptions {
  /** One helpful sentence; defaults to the title. */
  detail?: string
  /** Only for `invalid_request`. */
  errors?: FieldError[]
  /** Seconds after which a retry makes sense; sent as `Retry-After`. */
  retryAfterSeconds?: number | undefined
  /** Further response headers, such as `Allow`. */
  headers?: Record<string, string>
  /** Whether whoever noticed the reason has logged it, so that nobody who meets it need. */
  isLogged?: boolean
  cause?: unknown
}

/**
 * An error that the caller may read. `title` is the exact sentence of the documented error table. Any other error is
 * answered as `internal`, and only the log says why.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly title: string
  readonly detail: string
  readonly errors: FieldError[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly headers: Record<string, string>
  readonly isLogged: boolean

  constructor(code: ErrorCode, title: string, options: AppErrorOptions = {}) {
    super(options.detail ?? title, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.title = title
    this.detail = options.detail ?? `${title}.`
    this.errors = options.errors
    this.retryAfterSeconds = options.retryAfterSeconds
    this.headers = options.headers ?? {}
    this.isLogged = options.isLogged ?? false
  }

  get status(): number {
    return errorStatus[this.code]
  }
}

/** Whether the error, or one of its causes, has been logged where it was noticed. */
export function isLogged(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (error instanceof AppError && error.isLogged) || isLogged(error.cause)
}

/** @param title the documented sentence, for a record that has one of its own */
export function notFound(detail: string, title = 'Not found'): AppError {
  return new AppError('not_found', title, { detail })
}

export function callNotFound(): AppError {
  return new AppError('not_found', 'Call not found', {
    detail: 'No call in this project has this id. It may have been deleted.',
  })
}

export function callIsOnHold(): AppError {
  return new AppError('call_on_hold', 'Call is on hold', {
    detail:
      'A legal hold covers the call. It cannot be deleted until an owner of the project lifts the hold.',
  })
}

/** Its id cannot be used again. */
export function callWasDeleted(): AppError {
  const detail = 'A deleted call stays deleted. Its id cannot be used again.'
  return new AppError('call_was_deleted', 'Call was deleted', { detail })
}

export function forbidden(detail: string): AppError {
  return new AppError('forbidden', 'Forbidden', { detail })
}

export function ownersOnly(): AppError {
  return forbidden('Only an owner of the project can do this.')
}

export function consoleOwnerOnly(): AppError {
  return forbidden('Only the owner of the console can do this.')
}

/** For requests to the console without a session. */
export function signInRequired(detail: string): AppError {
  return new AppError('not_signed_in', 'Sign in required', {
    detail,
    headers: { 'WWW-Authenticate': 'Cookie realm="Callbook console"' },
  })
}

export function twoFactorRequired(): AppError {
  return new AppError('two_factor_required', 'Second factor required', {
    detail: 'The owner of this console requires two-factor sign-in. Set up an authenticator app first.',
  })
}

/** A 503: the same request may succeed later. */
export function unavailable(detail: string, retryAfterSeconds = 1): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds })
}

/**
 * A 400 that names every field at fault.
 * @param count how many faults there are, when `errors` does not list all of them
 */
export function invalidRequest(errors: FieldError[], count = errors.length): AppError {
  const first = errors[0]
  const others = count > 1 ? ` (and ${count - 1} more ${count === 2 ? 'fault' : 'faults'})` : ''
  return new AppError('invalid_request', 'Invalid request', {
    detail: first ? `${first.field}: ${first.message}${others}` : 'The request is not valid.',
    errors,
  })
}

/** @param problems why each field is refused; nothing for a field that is not @throws invalid_request naming those that are */
export function refuseFields(problems: Record<string, string | null | false>): void {
  const errors = Object.entries(problems).flatMap(([field, message]) => (message ? [{ field, message }] : []))
  if (errors.length > 0) throw invalidRequest(errors)
}

/** For requests in progress while their project is deleted. Later ones find neither the key nor the project. */
export class ProjectWasDeleted extends AppError {
  constructor(cause?: unknown) {
    const detail = 'The project was just deleted.'
    super('unavailable', 'Service unavailable', { detail, retryAfterSeconds: 1, cause })
  }
}
