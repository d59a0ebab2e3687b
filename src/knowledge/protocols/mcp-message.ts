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

/** The requests that we answer. */
const requestSchemas = [
  InitializeRequestSchema,
  PingRequestSchema,
  ListToolsRequestSchema,
  CallToolRequestSchema,
]

/** @throws RpcError for what is no message, or a request whose params are not what its method takes */
export function toMessage(value: unknown): JSONRPCMessage {
  // The protocol has had no batches since 2025-06-18, and a batch would be one request to the rate limit.
  if (Array.isArray(value)) throw invalidRequest('send one message, not a batch')
  if (!isId(value)) {
    throw invalidRequest(`id must be a string, or an integer of at most ${Number.MAX_SAFE_INTEGER} in size`)
  }
  const { success, data } = JSONRPCMessageSchema.safeParse(value)
  if (!success) throw invalidRequest('this is not a message of JSON-RPC 2.0')
  if ('method' in data && 'id' in data) checkParams(data)
  return data
}

/** Whether a message's id, if it has one, is no number that the protocol forbids or that JSON would give back changed. */
function isId(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !('id' in message)) return true
  return typeof message.id !== 'number' || Number.isSafeInteger(message.id)
}

/** The SDK checks them as well, but answers an internal error in its validator's own words. */
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
