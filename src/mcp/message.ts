import {
  CallToolRequestSchema,
  ErrorCode,
  InitializeRequestSchema,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
  ListToolsRequestSchema,
  PingRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

/** The requests that the server answers. */
const requestSchemas = [
  InitializeRequestSchema,
  PingRequestSchema,
  ListToolsRequestSchema,
  CallToolRequestSchema,
]

/** @throws RpcError if the value is not a message, or if its params do not fit its method */
export function toMessage(value: unknown): JSONRPCMessage {
  // The protocol has had no batches since 2025-06-18, and the rate limit would count a batch as one request.
  if (Array.isArray(value)) throw invalidRequest('send one message, not a batch')
  if (!isId(value)) {
    throw invalidRequest(`id must be a string, or an integer of at most ${Number.MAX_SAFE_INTEGER} in size`)
  }
  const { success, data } = JSONRPCMessageSchema.safeParse(value)
  if (!success) throw invalidRequest('this is not a message of JSON-RPC 2.0')
  if ('method' in data && 'id' in data) checkParams(data)
  return data
}

/** False for an id that the protocol forbids, and for a number that JSON cannot return unchanged. */
function isId(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !('id' in message)) return true
  return typeof message.id !== 'number' || Number.isSafeInteger(message.id)
}

/** The SDK checks them too, but answers with an internal error in its validator's words. */
function checkParams(request: JSONRPCRequest): void {
  const schema = requestSchemas.find(({ shape }) => shape.method.value === request.method)
  const issue = schema?.safeParse(request).error?.issues[0]
  if (!issue) return
  const message = `Invalid params: ${issue.path.join('.')}: ${issue.message}`
  throw new RpcError(ErrorCode.InvalidParams, message, { id: request.id })
}

function invalidRequest(why: string): RpcError {
  return new RpcError(ErrorCode.InvalidRequest, `Invalid request: ${why}`, { status: 400 })
}

interface RpcErrorOptions {
  /** The id of the request; null if it is unknown. */
  id?: string | number | null
  /** The HTTP status: 200 if the request is well-formed. */
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
