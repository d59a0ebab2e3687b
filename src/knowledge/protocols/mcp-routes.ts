import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import { Elysia } from 'elysia'
import { AppError } from '../../errors.ts'
import type { Admission } from '../../http/admission.ts'
import { callerContext } from '../../http/caller.ts'
import { type BodyLimits, readJson } from '../../http/json-body.ts'
import { isTrustedOrigin } from '../../http/origins.ts'
import type { RequestContexts } from '../../http/request-context.ts'
import type { Knowledge } from '../knowledge.ts'
import type { Search } from '../search/search.ts'
import { RpcError, toMessage } from './mcp-message.ts'
import { createMcpServer } from './mcp-server.ts'
import { mcpTools } from './mcp-tools.ts'

/** The SDK's code for what HTTP has a status for, and JSON-RPC no code. */
const refusedByHttp = -32_000

interface McpRoutesOptions {
  knowledge: Knowledge
  search: Search
  version: string
  publicUrl: string | null
  contexts: RequestContexts
  admission: Admission
  onUnexpected: (error: unknown, requestId: string) => void
}

/**
 * /mcp: the Model Context Protocol over streamable HTTP (https://modelcontextprotocol.io/specification/2025-11-25).
 * Without sessions and streams: one POST, one JSON answer, so that any replica can answer it.
 */
export function mcpRoutes(options: McpRoutesOptions) {
  const { knowledge, search, version, publicUrl, contexts, admission, onUnexpected } = options
  const tools = mcpTools(knowledge, search)
  const ownOrigin = publicUrl === null ? null : new URL(publicUrl).origin

  return new Elysia().use(callerContext()).post(
    '/mcp',
    ({ caller, request }) => {
      if (!isTrustedOrigin(request.headers.get('origin'), ownOrigin)) throw untrustedOrigin()
      const { requestId, surface } = contexts.of(request)
      const { projectId } = caller
      const report = (error: unknown) => onUnexpected(error, requestId)
      const server = createMcpServer({ tools, version, projectId, onUnexpected: report })
      return answer(request, server, { bytesMax: surface.bodyBytesMax, admission })
    },
    // Clients learn the tools from the protocol itself.
    { detail: { hide: true } },
  )
}

async function answer(request: Request, server: Server, limits: BodyLimits): Promise<Response> {
  try {
    if (!admitsJson(request.headers.get('accept'))) {
      const message = 'The answer is application/json, which Accept must allow.'
      throw new RpcError(refusedByHttp, message, { status: 406 })
    }
    const message = toMessage(await readBody(request, limits))
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
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

/** Whether the client accepts JSON. It need not accept event streams, since we send none. */
function admitsJson(accept: string | null): boolean {
  const ranges = (accept ?? '*/*').split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return ranges.some((range) => range === 'application/json' || range === 'application/*' || range === '*/*')
}

/** The request for the SDK, which insists on both types in `Accept` and need not see the key. */
function toSdkRequest(request: Request): Request {
  const headers = new Headers({
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
  })
  const version = request.headers.get('mcp-protocol-version')
  if (version !== null) headers.set('MCP-Protocol-Version', version)
  return new Request(request.url, { method: 'POST', headers })
}

function untrustedOrigin(): AppError {
  return new AppError('forbidden', 'Forbidden', {
    detail: 'Pages of this origin may not speak to the service; PUBLIC_URL names the one that may.',
  })
}
