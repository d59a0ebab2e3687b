import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import { AppError } from '../../errors.ts'
import { type BodyLimits, readJson } from '../../http/json-body.ts'
import { RpcError, toMessage } from './mcp-message.ts'
import { createMcpServer, type McpServerOptions } from './mcp-server.ts'

/** The SDK's code for errors that have an HTTP status but no JSON-RPC code. */
const refusedByHttp = -32_000

/** Answers one message of the Model Context Protocol. */
export async function answerMcp(
  request: Request,
  options: McpServerOptions,
  limits: BodyLimits,
): Promise<Response> {
  try {
    if (!admitsJson(request.headers.get('accept'))) {
      const message = 'The answer is application/json, which Accept must allow.'
      throw new RpcError(refusedByHttp, message, { status: 406 })
    }
    const message = toMessage(await readBody(request, limits))
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await createMcpServer(options).connect(transport)
    return await transport.handleRequest(toSdkRequest(request), { parsedBody: message })
  } catch (error) {
    if (error instanceof RpcError) return error.toResponse()
    throw error
  }
}

async function readBody(request: Request, limits: BodyLimits): Promise<unknown> {
  try {
    return await readJson(request, limits)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { status, message, retryAfterSeconds } = error
    if (status === 400) throw new RpcError(ErrorCode.ParseError, `Parse error: ${message}`, { status })
    const headers = {
      ...error.headers,
      ...(retryAfterSeconds && { 'Retry-After': String(retryAfterSeconds) }),
    }
    throw new RpcError(refusedByHttp, message, { status, headers })
  }
}

/** Whether the client accepts JSON. It need not accept event streams, which this server never sends. */
function admitsJson(accept: string | null): boolean {
  const ranges = (accept ?? '*/*').split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return ranges.some((range) => range === 'application/json' || range === 'application/*' || range === '*/*')
}

/** The request as the SDK needs it: with both types in `Accept`, and without the key. */
function toSdkRequest(request: Request): Request {
  const headers = new Headers({
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
  })
  const version = request.headers.get('mcp-protocol-version')
  if (version !== null) headers.set('MCP-Protocol-Version', version)
  return new Request(request.url, { method: 'POST', headers })
}
