import { Elysia } from 'elysia'
import { type AppError, forbidden } from '../errors.ts'
import type { Admission } from '../http/admission.ts'
import { callerContext } from '../http/caller.ts'
import { isTrustedOrigin } from '../http/origins.ts'
import type { RequestContexts } from '../http/request-context.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { scopeAllows } from '../identity.ts'
import type { McpTool } from './tool.ts'

interface McpRoutesOptions {
  tools: readonly McpTool[]
  /** The id of the phone call in which a model asks, from the headers of its request; null if they have none. */
  callIdOf: (request: Request) => string | null
  version: string
  publicUrl: string | null
  contexts: RequestContexts
  admission: Admission
  buffers: ResponseBuffers
  onUnexpected: (error: unknown, requestId: string) => void
}

/**
 * /mcp: the Model Context Protocol over streamable HTTP (https://modelcontextprotocol.io/specification/2025-11-25).
 * Without sessions and streams, so that any replica can answer any POST.
 */
export function mcpRoutes(options: McpRoutesOptions) {
  const { tools, callIdOf, version, publicUrl, contexts, admission, buffers, onUnexpected } = options
  const ownOrigin = publicUrl === null ? null : new URL(publicUrl).origin

  return new Elysia().use(callerContext()).post(
    '/mcp',
    async ({ caller, request }) => {
      if (!isTrustedOrigin(request.headers.get('origin'), ownOrigin)) throw untrustedOrigin()
      const { requestId } = contexts.of(request)
      const { projectId, scope } = caller
      const allowed = tools.filter((tool) => scopeAllows(scope, tool.scope))
      const report = (error: unknown) => onUnexpected(error, requestId)
      const limits = { bytesMax: contexts.bodyBytesMaxOf(request), admission }
      // Loaded only when it is used: the protocol's SDK is large.
      const { answerMcp } = await import('./mcp-response.ts')
      const asked = { version, projectId, callId: callIdOf(request), buffers, onUnexpected: report }
      return await answerMcp(request, { ...asked, tools: allowed }, limits)
    },
    // Clients learn the tools from the protocol itself.
    { detail: { hide: true } },
  )
}

function untrustedOrigin(): AppError {
  return forbidden('Pages from this origin cannot use the service. PUBLIC_URL names the origin that can.')
}
