import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { AppError } from '../../errors.ts'
import type { KeyScope } from '../../identity.ts'
import { graphemeStart } from '../../text/graphemes.ts'
import { compileCheck } from '../../validation.ts'
import type { Knowledge } from '../knowledge.ts'
import type { RecordedSearch } from '../questions/recorded-search.ts'
import {
  Item,
  ItemPage,
  ItemPageRequest,
  type ItemSummary,
  SearchAnswer,
  type SearchHit,
  SearchRequest,
} from '../schemas.ts'
import { warningsOf } from './tool.ts'

export interface McpTool {
  readonly definition: Tool
  /** The scope that a key needs for this tool. */
  readonly scope: KeyScope
  /**
   * A mistake of the model becomes a result that explains it, so that the model can try again.
   * @param callId the id of the phone call in which the model asks, if the request has it
   * @throws errors that are not the caller's fault
   */
  call(projectId: number, input: unknown, callId: string | null): Promise<CallToolResult>
}

const sliceCharsDefault = 20_000

const ItemSliceRequest = Type.Object({
  id: Type.String({
    description: 'itemId of a passage, or id of a listed item.',
    example: 'kn_019a5f0c2b7e7cc0a1d2e3f405162738',
  }),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: 'nextOffset from the previous part.' }),
  ),
  maxChars: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: sliceCharsDefault,
      description: 'The most characters of text to return.',
    }),
  ),
})

const ItemSlice = Type.Object({
  ...Item.properties,
  text: Type.String({ description: 'This part of the text.' }),
  offset: Type.Integer({ description: 'Where this part starts.' }),
  totalChars: Type.Integer({ description: 'Length of the whole text.' }),
  nextOffset: Type.Unsafe<number | null>({
    type: 'integer',
    nullable: true,
    description: 'Where the next part starts; null at the end.',
  }),
})
type ItemSlice = Static<typeof ItemSlice>

/** The tools of a model: they only read a project's knowledge. */
export function mcpTools(knowledge: Knowledge, search: Pick<RecordedSearch, 'search'>): McpTool[] {
  return [
    toolOf({
      name: 'search_knowledge',
      scope: 'search',
      title: 'Search knowledge',
      description:
        "Finds the passages in the organization's knowledge that answer a question, best first. Use it before " +
        'you answer anything about its products, policies or procedures.',
      input: SearchRequest,
      output: SearchAnswer,
      run: async (projectId, request, callId) => (await search.search(projectId, request, callId)).answer,
      toTexts: (answer) =>
        answer.data.length > 0
          ? [...warningsOf(answer), ...answer.data.map(passage)]
          : ['No passage was found. Try other words.'],
    }),
    toolOf({
      name: 'list_knowledge',
      scope: 'read',
      title: 'List knowledge',
      description:
        'Lists all knowledge items, newest first, without their texts. Use it to see what is covered. To find ' +
        'an answer, search_knowledge is faster.',
      input: ItemPageRequest,
      output: ItemPage,
      run: (projectId, request) => knowledge.page(projectId, request),
      toTexts: ({ data, nextCursor }) => [
        data.length > 0 ? data.map(summary).join('\n') : 'There are no items.',
        ...(nextCursor === null ? [] : [`There are more. Call again with cursor ${nextCursor}`]),
      ],
    }),
    toolOf({
      name: 'get_knowledge',
      scope: 'read',
      title: 'Get a knowledge item',
      description:
        'Reads one knowledge item: its name, description and text, a long text in parts. Use it when a ' +
        'passage is not enough.',
      input: ItemSliceRequest,
      output: ItemSlice,
      run: async (projectId, { id, offset = 0, maxChars = sliceCharsDefault }) => {
        const item = await knowledge.get(projectId, id)
        return { ...item, ...sliceOf(item.text, offset, maxChars), totalChars: item.text.length }
      },
      toTexts: (item) => [document(item)],
    }),
  ]
}

interface ToolOptions<Input extends TObject, Output extends TObject> {
  name: string
  scope: KeyScope
  title: string
  description: string
  input: Input
  output: Output
  run: (projectId: number, input: Static<Input>, callId: string | null) => Promise<Static<Output>>
  /** The answer as text for the model. */
  toTexts: (answer: Static<Output>) => string[]
}

function toolOf<Input extends TObject, Output extends TObject>(options: ToolOptions<Input, Output>): McpTool {
  const { name, scope, title, description, input, output, run, toTexts } = options
  const check = compileCheck(input)
  return {
    scope,
    definition: {
      name,
      title,
      description,
      inputSchema: toJsonSchema(input),
      outputSchema: toJsonSchema(output),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async call(projectId, value, callId) {
      try {
        const answer = await run(projectId, check(value), callId)
        return { content: toTexts(answer).map(toBlock), structuredContent: answer }
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return { content: [toBlock(toSentence(error))], isError: true }
      }
    },
  }
}

/** Converts an OpenAPI 3.0 schema to plain JSON Schema (2020-12). */
function toJsonSchema(schema: TObject): Tool['inputSchema'] {
  return JSON.parse(JSON.stringify(schema), (_, part) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    // The keywords that differ. No property has one of these names.
    const { nullable, example, title, 'x-message': message, 'x-documented': more, ...shared } = part
    if (nullable) shared.type = [shared.type, 'null']
    if (example !== undefined) shared.examples = [example]
    return shared
  })
}

function toBlock(text: string): { type: 'text'; text: string } {
  return { type: 'text', text }
}

function toSentence({ title, errors }: AppError): string {
  if (!errors) return title
  return `Invalid arguments: ${errors.map(({ field, message }) => `${field} ${message}`).join('; ')}`
}

function passage(hit: SearchHit): string {
  const heading = hit.heading === null ? '' : ` › ${hit.heading}`
  return `${hit.name}${heading} (item ${hit.itemId})\n\n${hit.text}`
}

function summary({ id, name, description, textBytes }: ItemSummary): string {
  return `- ${name} (item ${id}, ${textBytes} bytes)${description === '' ? '' : `: ${description}`}`
}

function document({ name, description, text, offset, totalChars, nextOffset }: ItemSlice): string {
  const end = offset + text.length
  const isWhole = offset === 0 && nextOffset === null
  const more = nextOffset === null ? '' : `; call again with offset ${nextOffset} for more`
  return [
    `# ${name}`,
    ...(description === '' ? [] : [description]),
    text,
    ...(isWhole ? [] : [`(Characters ${offset} to ${end} of ${totalChars}${more})`]),
  ].join('\n\n')
}

/**
 * The part of an item's text from `offset`, in UTF-16 code units, moved back out of a surrogate pair. Graphemes that
 * fit are not split, and only a part at the end of the text is empty.
 */
function sliceOf(text: string, offset: number, charsMax: number) {
  const isInsidePair = offset > 0 && (text.codePointAt(offset - 1) ?? 0) > 0xffff
  const start = isInsidePair ? offset - 1 : Math.min(offset, text.length)
  const cut = graphemeStart(text, start, Math.min(start + charsMax, text.length))
  const end = cut > start ? cut : start + String.fromCodePoint(text.codePointAt(start) ?? 0).length
  return { text: text.slice(start, end), offset: start, nextOffset: end < text.length ? end : null }
}
