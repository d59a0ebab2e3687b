import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { RpcError } from './mcp-message.ts'
import type { McpTool } from './mcp-tools.ts'

const instructions =
  'The knowledge of one organization, as its voice agents use it. Answer from what search_knowledge ' +
  'finds. If it finds no answer, say so instead of guessing. All tools are read-only.'

// The SDK uses it for users' answers to a server's questions, which this server never asks. Creating one is slow.
const jsonSchemaValidator = new AjvJsonSchemaValidator()

export interface McpServerOptions {
  tools: McpTool[]
  version: string
  projectId: number
  /** The id of the phone call in which the model asks, if the request has it. */
  callId: string | null
  /** Called with every failure that is not the caller's fault. */
  onUnexpected: (error: unknown) => void
}

/**
 * A server that answers one message. It is the SDK's `Server` because `McpServer` does not take plain JSON schemas, and
 * takes six times as long to create.
 */
export function createMcpServer({
  tools,
  version,
  projectId,
  callId,
  onUnexpected,
}: McpServerOptions): Server {
  const info = { name: 'callbook', title: 'Callbook', version }
  const definitions = tools.map(({ definition }) => definition)
  const server = new Server(info, { capabilities: { tools: {} }, instructions, jsonSchemaValidator })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: definitions }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ definition }) => definition.name === params.name)
    if (!tool) {
      const names = definitions.map(({ name }) => name).join(', ')
      throw new RpcError(ErrorCode.InvalidParams, `Unknown tool; there are ${names}`)
    }
    try {
      return await tool.call(projectId, params.arguments ?? {}, callId)
    } catch (error) {
      onUnexpected(error)
      throw new RpcError(ErrorCode.InternalError, 'Internal error')
    }
  })
  return server
}
