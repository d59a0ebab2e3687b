import { Elysia } from 'elysia'
import { type AppError, forbidden } from '../errors.ts'
import { callerContext, callIdOf } from '../http/caller.ts'
import type { Http } from '../http/http.ts'
import { isTrustedOrigin } from '../http/origins.ts'
import { readParameters } from '../http/parameters.ts'
import { scopeAllows } from '../identity.ts'
import { within } from '../tags.ts'
import { version } from '../version.ts'
import type { McpTool } from './tool.ts'

/**
 * /mcp: the Model Context Protocol over streamable HTTP (https://modelcontextprotocol.io/specification/2025-11-25).
 * Without sessions and streams, so that any replica can answer any POST.
 */
export function mcpRoutes(http: Http, tools: readonly McpTool[]) {
  const { publicUrl, contexts, admission, buffers, onUnexpected } = http
  const ownOrigin = publicUrl === null ? null : new URL(publicUrl).origin

  return new Elysia().use(callerContext()).post(
    '/mcp',
    async ({ caller, request }) => {
      if (!isTrustedOrigin(request.headers.get('origin'), ownOrigin)) throw untrustedOrigin()
      const { requestId } = contexts.of(request)
      const { scope } = caller
      const { projectId, tags } = within(caller, readParameters(request.url))
      const allowedTools = tools.filter((tool) => scopeAllows(scope, tool.permission))
      const report = (error: unknown) => onUnexpected(error, requestId)
      const limits = { bytesMax: contexts.bodyBytesMaxOf(request), admission }
      // Loaded only when it is used: the protocol's SDK is large.
      const { answerMcp } = await import('./mcp-response.ts')
      const context = { version, projectId, callId: callIdOf(request), tags, buffers, onUnexpected: report }
      return await answerMcp(request, { ...context, tools: allowedTools }, limits)
    },
    // Clients learn the tools from the protocol itself.
    { detail: { hide: true } },
  )
}

function untrustedOrigin(): AppError {
  return forbidden('Pages from this origin cannot use the service. PUBLIC_URL names the origin that can.')
}
