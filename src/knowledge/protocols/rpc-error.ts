interface RpcErrorOptions {
  /** The id of the request this answers; null when it is not known. */
  id?: string | number | null
  /** Of HTTP: 200 where the answer is to a well-made request. */
  status?: number
  /** For the answer's `Retry-After`. */
  retryAfterSeconds?: number | undefined
  /** Further headers of the answer. */
  headers?: Record<string, string>
}

/** An error as JSON-RPC 2.0 has it: https://www.jsonrpc.org/specification#error_object. */
export class RpcError extends Error {
  readonly code: number
  readonly id: string | number | null
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  readonly headers: Record<string, string>

  constructor(
    code: number,
    message: string,
    { id = null, status = 200, retryAfterSeconds, headers = {} }: RpcErrorOptions = {},
  ) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.id = id
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
    this.headers = headers
  }
}
