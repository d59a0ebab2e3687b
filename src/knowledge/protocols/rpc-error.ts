interface RpcErrorOptions {
  /** The id of the request that this answers; null when it is not known. */
  id?: string | number | null
  /** The HTTP status: 200 where the request itself is well-formed. */
  status?: number
  headers?: Record<string, string>
}

/** An error of JSON-RPC 2.0: https://www.jsonrpc.org/specification#error_object. */
export class RpcError extends Error {
  readonly code: number
  readonly #options: RpcErrorOptions

  constructor(code: number, message: string, options: RpcErrorOptions = {}) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.#options = options
  }

  toResponse(): Response {
    const { id = null, status = 200, headers = {} } = this.#options
    const { code, message } = this
    return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status, headers })
  }
}
