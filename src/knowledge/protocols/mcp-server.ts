import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import type { McpTool } from './mcp-tools.ts'
import { RpcError } from './rpc-error.ts'

const instructions =
  'The knowledge of one organisation, as its voice agents use it. Answer from what search_knowledge finds; if it finds ' +
  'nothing that answers, say so instead of guessing. Everything here is read only.'

interface McpServersOptions {
  tools: McpTool[]
  version: string
}

interface McpCaller {
  projectId: number
  /** Called with every failure that is not the caller's fault. */
  onUnexpected: (error: unknown) => void
}

/**
 * Makes the server that answers one message of one caller. The SDK's `Server` rather than its `McpServer`: this one
 * takes our schemas as they are, and a sixth of the time to make.
 */
export function mcpServers({ tools, version }: McpServersOptions): (caller: McpCaller) => Server {
  const info = { name: 'callbook', title: 'Callbook', version }
  const definitions = tools.map(({ definition }) => definition)
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]))
  // Judges what users fill in for a server that asks them, which this one never does; made anew it is dear.
  const jsonSchemaValidator = new AjvJsonSchemaValidator()

  return ({ projectId, onUnexpected }) => {
    const server = new Server(info, { capabilities: { tools: {} }, instructions, jsonSchemaValidator })
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: definitions }))
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const tool = byName.get(params.name)
      if (!tool)
        throw new RpcError(
          ErrorCode.InvalidParams,
          `Unknown tool; there are ${[...byName.keys()].join(', ')}`,
        )
      try {
        return await tool.call(projectId, params.arguments ?? {})
      } catch (error) {
        onUnexpected(error)
        throw new RpcError(ErrorCode.InternalError, 'Internal error')
      }
    })
    return server
  }
}
