import { type Static, Type } from '@sinclair/typebox'
import { plainMembers } from '../knowledge/schemas.ts'
import { named } from '../validation.ts'

/** The most searches of one request; longer lists are refused. */
const toolCallsMax = 16

const phoneCall = Type.Optional(
  Type.Unknown({
    description: 'The phone call. Its `id` is kept with the question, where the project keeps questions.',
  }),
)
/** Only for the OpenAPI document: at least one of these. Not `false`, since many generators read no boolean schema. */
const havingOneOf = (...names: string[]) => ({
  ...plainMembers,
  not: { properties: Object.fromEntries(names.map((name) => [name, { not: {} }])) },
})
const turns = Type.Optional(
  Type.Array(Type.Unknown(), { description: 'The conversation so far. Only turns of the user are read.' }),
)

/** https://docs.vapi.ai/knowledge-base/custom-knowledge-base; `messages` is optional in Vapi's own SDKs. */
export const VapiKnowledgeRequest = named('VapiKnowledgeRequest', {
  message: named(
    'VapiKnowledgeMessage',
    {
      type: Type.Unsafe<'knowledge-base-request'>({ type: 'string', enum: ['knowledge-base-request'] }),
      messages: turns,
      messagesOpenAIFormatted: turns,
      call: phoneCall,
    },
    {
      'x-documented': havingOneOf('messages', 'messagesOpenAIFormatted'),
      example: {
        type: 'knowledge-base-request',
        messages: [
          { role: 'user', content: 'What is your return policy?' },
          { role: 'assistant', content: "I'll help you with information about our return policy." },
          { role: 'user', content: 'How long do I have to return items?' },
        ],
      },
    },
  ),
})
export type VapiKnowledgeRequest = Static<typeof VapiKnowledgeRequest>

export const VapiDocument = named('VapiDocument', {
  content: Type.String({ example: 'Returns › Refunds\nWe refund any order within 30 days.' }),
  similarity: Type.Number({
    description: 'How much of the question the passage covers, 0 to 1.',
    example: 1,
  }),
  uuid: Type.String({
    description: "The item's id and the passage's position.",
    example: 'kn_019a5f0c2b7e7cc0a1d2e3f405162738:0',
  }),
})
export type VapiDocument = Static<typeof VapiDocument>

export const VapiKnowledgeAnswer = named('VapiKnowledgeAnswer', { documents: Type.Array(VapiDocument) })
export type VapiKnowledgeAnswer = Static<typeof VapiKnowledgeAnswer>

const calls = Type.Optional(
  Type.Array(Type.Unknown(), {
    maxItems: toolCallsMax,
    description: 'Each `{id, name, parameters}`, or `{id, function: {name, arguments}}`.',
  }),
)

/** One list under three names: https://docs.vapi.ai/server-url/events, https://docs.vapi.ai/tools/custom-tools */
export const VapiToolRequest = named('VapiToolRequest', {
  message: named(
    'VapiToolMessage',
    {
      type: Type.Optional(Type.String({ description: 'Vapi says `tool-calls`.' })),
      toolCallList: calls,
      toolCalls: calls,
      toolWithToolCallList: calls,
      call: phoneCall,
    },
    {
      'x-documented': havingOneOf('toolCallList', 'toolCalls', 'toolWithToolCallList'),
      example: {
        type: 'tool-calls',
        toolCallList: [
          { id: 'abc123', name: 'search_knowledge', parameters: { query: 'Can I still return my order?' } },
        ],
      },
    },
  ),
})
export type VapiToolRequest = Static<typeof VapiToolRequest>

export const VapiToolResult = named('VapiToolResult', {
  name: Type.Optional(Type.String({ example: 'search_knowledge' })),
  toolCallId: Type.Optional(Type.String({ example: 'abc123' })),
  result: Type.Optional(
    Type.String({
      description: 'The passages, best first, in one line.',
      example: '(1) Returns › Refunds: We refund any order within 30 days.',
    }),
  ),
  error: Type.Optional(
    Type.String({ description: 'Instead of `result`, in one line.', example: 'query: is required' }),
  ),
})
export type VapiToolResult = Static<typeof VapiToolResult>

export const VapiToolAnswer = named('VapiToolAnswer', { results: Type.Array(VapiToolResult) })
