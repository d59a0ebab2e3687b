import { type Static, Type } from '@sinclair/typebox'
import { invalidRequest } from '../errors.ts'
import { limits } from '../limits.ts'
import { type McpTool, type ToolContext, toolOf } from '../mcp/tool.ts'
import { cutMark, cutToBytes, cutToChars, cutToJson, jsonBytes } from '../text/cut.ts'
import type { Calls } from './calls.ts'
import { readAtOnceCharsMax } from './document.ts'
import { filterNames } from './filters.ts'
import { readGivenFilters } from './finding/given-filters.ts'
import { newestFirst } from './finding/place.ts'
import { Call, CallDetails, limitedTextBytesMax, limitedTexts, type Turn } from './schemas.ts'

const callsDefault = 20
const callsMax = 100
const turnsDefault = 200
const turnsMax = 1_000
/** A page has documents of at most this together, or one call. */
const pageCharsMax = limits.mcpPage.most
const listedTextCharsMax = 2_000
/** The size of a part of a call as JSON, and of what it has beside the transcript. */
const partBytesMax = limits.mcpCall.most
const partHeadBytesMax = 196_608
/** The limit of a member of the analysis within a part. */
const memberCharsMax = 16_384
/** The JSON of a turn, apart from its words. */
const turnBytes = 40

const { transcript, callAnalysis, ...listedProperties } = Call.properties
const ListedCall = Type.Object(listedProperties)

const CallListRequest = Type.Object({
  filters: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'The filters of GET /v1/calls, such as status, evaluation, from and to (ISO times or dates), minDuration, ' +
        'number, endedReason, agentId, agentVersion, direction, label, text (words that were said), analysis.KEY, metadata.KEY and criterion.ID. ' +
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

/** These details are not in the conversation. */
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
      permission: 'read',
      title: 'List calls',
      description:
        "Finds the calls that the organization's voice agents handled, newest first, without their transcripts. " +
        'Use it to see what happened, and get_call to read what was said.',
      input: CallListRequest,
      members: { filters: filterNames },
      output: CallList,
      run: (projectId, request, context) => listCalls(calls, projectId, request, context),
      toTexts: ({ data, total, nextCursor }) => [
        data.length > 0 ? `${total} calls match.\n${data.map(line).join('\n')}` : 'No call matches.',
        ...(nextCursor === null ? [] : [`There are more. Call again with cursor ${nextCursor}`]),
      ],
    }),
    toolOf({
      name: 'get_call',
      permission: 'read',
      title: 'Get a call',
      description:
        'Reads one call: how it went and what was said, a long transcript in parts. What is too long for a part is cut.',
      input: CallRequest,
      output: CallPart,
      run: async (projectId, { id, fromTurn = 0, maxTurns = turnsDefault }, { admit }) => {
        const { document } = await calls.get(projectId, id, admit)
        const row = await calls.details(projectId, id, admit)
        const allDetails: CallDetails = jsonIn(row.document)
        const { agent, direction, costUsd, costSource, costParts, usage } = allDetails
        const details = { agent, direction, costUsd, costSource, costParts, usage }
        return partOf(jsonIn(document), details, fromTurn, maxTurns)
      },
      toTexts: (call) => [document(call)],
    }),
  ]
}

async function listCalls(
  calls: Pick<Calls, 'find' | 'cursors'>,
  projectId: number,
  { filters = {}, limit = callsDefault, cursor }: Static<typeof CallListRequest>,
  { admit }: ToolContext,
): Promise<Static<typeof CallList>> {
  const cursors = calls.cursors(projectId)
  const search = readGivenFilters(filters, 'filters')
  const after = cursor === undefined ? undefined : cursors.read(cursor, newestFirst)
  if (cursor !== undefined && !after)
    throw invalidRequest([{ field: 'cursor', message: 'must be the nextCursor of another page' }])
  const fields = new Set(Object.keys(listedProperties))
  const page = { search: { ...search, ...(after && { after }) }, limit, offset: 0, charsMax: pageCharsMax }
  const result = await calls.find(projectId, page, { fields, isDetailed: false })
  if (result.sliceChars > readAtOnceCharsMax) admit(result.sliceChars)
  const data: Static<typeof ListedCall>[] = []
  for await (const part of result.documents) {
    const text = typeof part === 'string' ? part : new TextDecoder().decode(part)
    // A comma between two slices is a part, too.
    const some: Static<typeof ListedCall>[] = text === ',' ? [] : JSON.parse(`[${text}]`)
    data.push(...some.map((call) => withTexts(call, (text) => cutToChars(text, listedTextCharsMax))))
  }
  return { data, total: result.total, nextCursor: result.end && cursors.write(result.end, newestFirst) }
}

/** A part of a call: turns from `fromTurn` on, at least one, as many as there is room for. */
function partOf(
  call: Call,
  details: Static<typeof CallPart>['details'],
  fromTurn: number,
  maxTurns: number,
): Static<typeof CallPart> {
  let bytesLeft = Math.max(0, partHeadBytesMax - jsonBytes(details))
  const head = withTexts(call, (text) => {
    const cut = cutToJson(cutToBytes(text, limitedTextBytesMax), bytesLeft)
    bytesLeft -= jsonBytes(cut)
    return cut
  })
  const callAnalysis = call.callAnalysis && cutMembers(call.callAnalysis, bytesLeft)
  const totalTurns = call.transcript.length
  bytesLeft =
    partBytesMax -
    jsonBytes({ ...head, details, callAnalysis, transcript: [], totalTurns, nextTurn: totalTurns })
  const turns: Turn[] = []
  for (const { role, content } of call.transcript.slice(fromTurn, fromTurn + maxTurns)) {
    const turn = { role, content: turns.length > 0 ? content : cutToJson(content, bytesLeft - turnBytes) }
    bytesLeft -= jsonBytes(turn) + 1
    if (bytesLeft < 0 && turns.length > 0) break
    turns.push(turn)
  }
  const end = fromTurn + turns.length
  const nextTurn = end < totalTurns ? end : null
  return { ...head, details, callAnalysis, transcript: turns, totalTurns, nextTurn }
}

/** The call with its texts changed. A stored call may have longer ones than can be sent today. */
function withTexts<Listed extends Static<typeof ListedCall>>(
  call: Listed,
  change: (text: string) => string,
): Listed {
  const changed = { ...call }
  for (const field of limitedTexts) {
    const text = call[field]
    if (text !== null) changed[field] = change(text)
  }
  return changed
}

/** The members that there is room for, long ones cut, as JSON if they are no text. */
function cutMembers(members: Record<string, unknown>, bytesMax: number): Record<string, unknown> {
  if (jsonBytes(members) <= bytesMax) return members
  const entries: [string, unknown][] = []
  let bytesLeft = bytesMax
  for (const [name, value] of Object.entries(members)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const excerpt = text.length > memberCharsMax ? cutToChars(text, memberCharsMax) : value
    bytesLeft -= jsonBytes([name, excerpt])
    if (bytesLeft < 0) return Object.fromEntries([...entries, [cutMark.trim(), true]])
    entries.push([name, excerpt])
  }
  return Object.fromEntries(entries)
}

function jsonIn(document: Uint8Array) {
  return JSON.parse(new TextDecoder().decode(document))
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
