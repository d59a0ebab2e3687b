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
import { toMessage } from './mcp-message.ts'
import { mcpServers } from './mcp-server.ts'
import { mcpTools } from './mcp-tools.ts'
import { RpcError } from './rpc-error.ts'

/** What the SDK answers a request with that HTTP has a status for and JSON-RPC has no code. */
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
  const serverOf = mcpServers({ tools: mcpTools(knowledge, search), version })
  const ownOrigin = publicUrl === null ? null : new URL(publicUrl).origin

  return new Elysia().use(callerContext()).post(
    '/mcp',
    ({ caller, request }) => {
      if (!isTrustedOrigin(request.headers.get('origin'), ownOrigin)) throw untrustedOrigin()
      const { requestId, surface } = contexts.of(request)
      const server = serverOf({
        projectId: caller.projectId,
        onUnexpected: (error) => onUnexpected(error, requestId),
      })
      return answer(request, server, { bytesMax: surface.bodyBytesMax, admission })
    },
    // The protocol describes itself, to those who speak it.
    { detail: { hide: true } },
  )
}

async function answer(request: Request, server: Server, limits: BodyLimits): Promise<Response> {
  try {
    if (!admitsJson(request.headers.get('accept'))) throw notAcceptable()
    const message = toMessage(await readBody(request, limits))
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    return await transport.handleRequest(withWhatMatters(request), { parsedBody: message })
  } catch (error) {
    if (error instanceof RpcError) return toResponse(error)
    throw error
  }
}

async function readBody(request: Request, limits: BodyLimits): Promise<unknown> {
  try {
    return await readJson(request, limits)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { status, message, retryAfterSeconds, headers } = error
    if (status === 400) throw new RpcError(ErrorCode.ParseError, `Parse error: ${message}`, { status })
    throw new RpcError(refusedByHttp, message, { status, retryAfterSeconds, headers })
  }
}

/** Whether a client takes JSON. One that names no event stream, or nothing, loses nothing: we send none. */
function admitsJson(accept: string | null): boolean {
  const ranges = (accept ?? '*/*').split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return ranges.some((range) => range === 'application/json' || range === 'application/*' || range === '*/*')
}

/** The request as the SDK looks at it, which asks for both types by name and need not see the key. */
function withWhatMatters(request: Request): Request {
  const headers = new Headers({
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
  })
  const version = request.headers.get('mcp-protocol-version')
  if (version !== null) headers.set('MCP-Protocol-Version', version)
  return new Request(request.url, { method: 'POST', headers })
}

function toResponse({ code, message, id, status, retryAfterSeconds, headers: more }: RpcError): Response {
  const headers = new Headers(more)
  if (retryAfterSeconds !== undefined) headers.set('Retry-After', String(retryAfterSeconds))
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status, headers })
}

function notAcceptable(): RpcError {
  return new RpcError(refusedByHttp, 'The answer is application/json, which Accept must allow.', {
    status: 406,
  })
}

function untrustedOrigin(): AppError {
  return new AppError('forbidden', 'Forbidden', {
    detail: 'Pages of this origin may not speak to the service; PUBLIC_URL names the one that may.',
  })
}
