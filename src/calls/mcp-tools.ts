import { type Static, Type } from '@sinclair/typebox'
import { invalidRequest } from '../errors.ts'
import { type McpTool, toolOf } from '../mcp/tool.ts'
import type { Calls } from './calls.ts'
import { readGivenFilters } from './finding/given-filters.ts'
import { newestFirst } from './finding/place.ts'
import { Call, CallDetails } from './schemas.ts'

const callsDefault = 20
const callsMax = 100
const turnsDefault = 200
const turnsMax = 1_000

const { transcript, callAnalysis, ...listed } = Call.properties
const ListedCall = Type.Object(listed)

const CallListRequest = Type.Object({
  filters: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'The filters of GET /v1/calls, such as status, evaluation, from and to (ISO times or dates), minDuration, ' +
        'number, endedReason, agentId, agentVersion, direction, label, text (words that were said), analysis.KEY and criterion.ID. ' +
        'A list of values finds any of them.',
      example: { evaluation: 'fail', from: '2026-01-31' },
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: callsMax, default: callsDefault })),
  cursor: Type.Optional(Type.String({ description: 'nextCursor from the page before.' })),
})

const CallList = Type.Object({
  data: Type.Array(ListedCall),
  total: Type.Integer({ description: 'How many calls match; with filters counted to 10,000.' }),
  nextCursor: Type.Unsafe<string | null>({ type: 'string', nullable: true }),
})

const CallRequest = Type.Object({
  id: Type.String({ description: 'id of a listed call.', example: 'call-1042' }),
  fromTurn: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: 'nextTurn from the part before.' }),
  ),
  maxTurns: Type.Optional(Type.Integer({ minimum: 1, maximum: turnsMax, default: turnsDefault })),
})

/** Of the details, what the conversation does not show. */
const { agent, direction, costUsd, costSource, costParts, usage } = CallDetails.properties

const CallPart = Type.Object({
  ...Call.properties,
  details: Type.Object({ agent, direction, costUsd, costSource, costParts, usage }),
  totalTurns: Type.Integer(),
  nextTurn: Type.Unsafe<number | null>({
    type: 'integer',
    nullable: true,
    description: 'Where the next part of the transcript starts; null at its end.',
  }),
})

/** The tools that read a project's calls. */
export function callTools(calls: Pick<Calls, 'find' | 'get' | 'details' | 'cursors'>): McpTool[] {
  return [
    toolOf({
      name: 'list_calls',
      scope: 'read',
      title: 'List calls',
      description:
        "Finds the calls that the organization's voice agents handled, newest first, without their transcripts. " +
        'Use it to see what happened, and get_call to read what was said.',
      input: CallListRequest,
      output: CallList,
      run: (projectId, request) => listCalls(calls, projectId, request),
      toTexts: ({ data, total, nextCursor }) => [
        data.length > 0 ? `${total} calls match.\n${data.map(line).join('\n')}` : 'No call matches.',
        ...(nextCursor === null ? [] : [`There are more. Call again with cursor ${nextCursor}`]),
      ],
    }),
    toolOf({
      name: 'get_call',
      scope: 'read',
      title: 'Get a call',
      description: 'Reads one call: how it went and what was said, a long transcript in parts.',
      input: CallRequest,
      output: CallPart,
      run: async (projectId, { id, fromTurn = 0, maxTurns = turnsDefault }) => {
        const { document } = await calls.get(projectId, id)
        const call: Call = JSON.parse(new TextDecoder().decode(document))
        const stored = await calls.details(projectId, id)
        const known: CallDetails = JSON.parse(new TextDecoder().decode(stored.document))
        const { agent, direction, costUsd, costSource, costParts, usage } = known
        const details = { agent, direction, costUsd, costSource, costParts, usage }
        const end = fromTurn + maxTurns
        const totalTurns = call.transcript.length
        const nextTurn = end < totalTurns ? end : null
        return { ...call, details, transcript: call.transcript.slice(fromTurn, end), totalTurns, nextTurn }
      },
      toTexts: (call) => [document(call)],
    }),
  ]
}

async function listCalls(
  calls: Pick<Calls, 'find' | 'cursors'>,
  projectId: number,
  { filters = {}, limit = callsDefault, cursor }: Static<typeof CallListRequest>,
): Promise<Static<typeof CallList>> {
  const cursors = calls.cursors(projectId)
  const search = readGivenFilters(filters, 'filters')
  const after = cursor === undefined ? undefined : cursors.read(cursor, newestFirst)
  if (cursor !== undefined && !after)
    throw invalidRequest([{ field: 'cursor', message: 'must be the nextCursor of another page' }])
  const fields = new Set(Object.keys(listed))
  const asked = { search: { ...search, ...(after && { after }) }, limit, offset: 0 }
  const { total, end, documents } = await calls.find(projectId, asked, { fields, isDetailed: false })
  let text = ''
  for await (const part of documents) text += typeof part === 'string' ? part : new TextDecoder().decode(part)
  return { data: JSON.parse(`[${text}]`), total, nextCursor: end && cursors.write(end, newestFirst) }
}

function line({
  id,
  createdAt,
  status,
  duration,
  evaluation,
  endedReason,
  summary,
}: Static<typeof ListedCall>): string {
  const facts = [status, `${Math.round(duration)} s`, evaluation, endedReason].filter((fact) => fact !== null)
  return `- ${id} (${createdAt}, ${facts.join(', ')})${summary === null ? '' : `: ${summary}`}`
}

function document({
  transcript,
  totalTurns,
  nextTurn,
  callAnalysis,
  details,
  ...call
}: Static<typeof CallPart>): string {
  const turns = transcript.map(({ role, content }) => `${role === 'user' ? 'Caller' : 'Agent'}: ${content}`)
  const more =
    nextTurn === null ? [] : [`(${totalTurns} turns in all; call again with fromTurn ${nextTurn} for more)`]
  const analysis = callAnalysis === null ? [] : [`Analysis: ${JSON.stringify(callAnalysis)}`]
  return [line(call), `Details: ${JSON.stringify(details)}`, ...analysis, ...turns, ...more].join('\n')
}
