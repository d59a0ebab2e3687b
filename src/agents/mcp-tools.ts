import { type Static, Type } from '@sinclair/typebox'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { RecordedSearch } from '../knowledge/questions/recorded-search.ts'
import {
  Item,
  ItemPage,
  ItemPageRequest,
  type ItemSummary,
  SearchAnswer,
  type SearchHit,
  SearchRequest,
  warningsOf,
} from '../knowledge/schemas.ts'
import { type McpTool, toolOf } from '../mcp/tool.ts'
import { graphemeStart } from '../text/graphemes.ts'

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

/** The tools that read a project's knowledge. */
export function knowledgeTools(
  knowledge: Knowledge,
  search: Pick<RecordedSearch, 'search' | 'noteRead'>,
): McpTool[] {
  return [
    toolOf({
      name: 'search_knowledge',
      permission: 'search',
      title: 'Search knowledge',
      description:
        "Finds the passages in the organization's knowledge that answer a question, best first. Use it before " +
        'you answer anything about its products, policies or procedures.',
      input: SearchRequest,
      output: SearchAnswer,
      run: async (projectId, request, { callId, tags }) =>
        (await search.search({ projectId, tags }, request, callId)).answer,
      toTexts: (answer) =>
        answer.data.length > 0
          ? [...warningsOf(answer), ...answer.data.map(passage)]
          : ['No passage was found. Try other words.'],
    }),
    toolOf({
      name: 'list_knowledge',
      permission: 'read',
      title: 'List knowledge',
      description:
        'Lists all knowledge items, newest first, without their texts. Use it to see what is covered. To find ' +
        'an answer, search_knowledge is faster.',
      input: ItemPageRequest,
      output: ItemPage,
      run: (projectId, request, { tags }) => knowledge.page(projectId, { ...request, filter: tags }),
      toTexts: ({ data, nextCursor }) => [
        data.length > 0 ? data.map(summary).join('\n') : 'There are no items.',
        ...(nextCursor === null ? [] : [`There are more. Call again with cursor ${nextCursor}`]),
      ],
    }),
    toolOf({
      name: 'get_knowledge',
      permission: 'read',
      title: 'Get a knowledge item',
      description:
        'Reads one knowledge item: its name, description and text, a long text in parts. Use it when a ' +
        'passage is not enough.',
      input: ItemSliceRequest,
      output: ItemSlice,
      run: async (projectId, { id, offset = 0, maxChars = sliceCharsDefault }, { callId, tags }) => {
        const item = await knowledge.get(projectId, id, tags)
        // The further parts of a long text are no other reading.
        if (offset === 0) search.noteRead(projectId, id, callId)
        return { ...item, ...sliceOf(item.text, offset, maxChars), totalChars: item.text.length }
      },
      toTexts: (item) => [document(item)],
    }),
  ]
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
