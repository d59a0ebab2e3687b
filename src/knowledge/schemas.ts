import { type Static, Type } from '@sinclair/typebox'
import { type TagsMatch, tagMessage, tagPattern, tagsMax } from '../text/tags.ts'
import { named, plainNamePattern } from '../validation.ts'
import type { ChunkFate } from './chunking/chunk-changes.ts'
import { readableFiles } from './files/file-text.ts'

export const notBlank = {
  minLength: 1,
  pattern: '\\S',
  'x-message': 'must not be blank',
  'x-documented': { pattern: '^[^\\u0000]*[^\\s\\ufeff\\u0000][^\\u0000]*$' },
}

/** Only for the OpenAPI document: no member, however deep, has U+0000. */
export const plainMembers = { patternProperties: { '': { $ref: '#/components/schemas/JsonValue' } } }

/** Only for the OpenAPI document: an unknown id is 404. */
export const ItemId = Type.String({
  title: 'ItemId',
  pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,128}$',
  example: 'kn_019a5f0c2b7e7cc0a1d2e3f405162738',
})

const Tag = Type.String({ pattern: tagPattern, 'x-message': tagMessage, example: 'billing' })
/** Tags as clients send them. */
export const Tags = Type.Array(Tag, { maxItems: tagsMax })
const TagsMatchName = Type.Unsafe<TagsMatch>({
  type: 'string',
  enum: ['any', 'all'],
  default: 'any',
  description: 'Whether an item must have one of the tags, or all of them.',
})

/** The body that creates an item. The size limit of `text` is in bytes and configurable, so it is not here. */
export const NewItem = named('KnowledgeItemInput', {
  name: Type.String({
    ...notBlank,
    maxLength: 200,
    format: 'name',
    'x-documented': { pattern: plainNamePattern },
    description: 'Without control, direction and invisible characters.',
    example: 'Refund policy',
  }),
  text: Type.String({ ...notBlank, example: '## Refunds\n\nWe refund any order within 30 days.' }),
  description: Type.Optional(Type.String({ maxLength: 2_000, example: 'What agents say about refunds.' })),
  tags: Type.Optional({ ...Tags, description: 'Searches can be limited to items with certain tags.' }),
})
export type NewItem = Static<typeof NewItem>

/** The body that changes an item: each field that it has is replaced. */
export const ItemChange = Type.Partial(NewItem, { title: 'KnowledgeItemChange' })
export type ItemChange = Static<typeof ItemChange>

/** A form with a file. */
export const UploadedFile = named('KnowledgeFile', {
  file: Type.String({
    format: 'binary',
    description: `With its name, which says its kind: ${readableFiles} can be read.`,
    example: '## Refunds\n\nWe refund any order within 30 days.',
  }),
  tags: Type.Optional(
    Type.String({
      description: 'Its tags, with commas between them, beside those of its front matter.',
      example: 'billing,eu',
    }),
  ),
})

/** A knowledge item as the API returns it: exactly these six fields. */
export const Item = named('KnowledgeItem', {
  id: ItemId,
  name: Type.String({ example: 'Refund policy' }),
  description: Type.String({
    description: 'Empty when none was given.',
    example: 'What agents say about refunds.',
  }),
  text: Type.String({
    description: 'Exactly what was sent.',
    example: '## Refunds\n\nWe refund any order within 30 days.',
  }),
  createdAt: Type.String({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' }),
  tags: Type.Array(Tag, { description: 'Sorted, each once.' }),
})
export type Item = Static<typeof Item>

export const ItemList = Type.Array(Item)

/** A text whose chunks are to be shown. */
export const PreviewRequest = named('PreviewRequest', { text: NewItem.properties.text })

export const ChunkPreview = named('Chunk', {
  position: Type.Integer({ description: "0 for the text's first chunk.", example: 0 }),
  heading: Type.Unsafe<string | null>({
    type: 'string',
    nullable: true,
    description: 'Titles of the section in which the chunk starts, and of the sections above it.',
    example: 'Orders › Refunds',
  }),
  text: Type.String({ example: '## Refunds\n\nWe refund any order within 30 days.' }),
  characters: Type.Integer({ description: 'Length of `text` in code points.', example: 46 }),
  overlapCharacters: Type.Integer({
    description: 'How many of the first characters repeat the end of the previous chunk.',
    example: 0,
  }),
})
export type ChunkPreview = Static<typeof ChunkPreview>

export const Preview = named('Preview', { data: Type.Array(ChunkPreview) })
export type Preview = Static<typeof Preview>

/** The chunks that an item would have after a change, and how they differ from the stored ones. */
export interface ChangePreview {
  data: (ChunkPreview & { change: ChunkFate })[]
  /** How many stored chunks have no successor. */
  removed: number
}

export const ItemPageRequest = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'nextCursor from the previous page; absent for the first page.',
    }),
  ),
})
export type ItemPageRequest = Static<typeof ItemPageRequest>

/** An item without its text. */
export const ItemSummary = Type.Object({
  ...Type.Omit(Item, ['text']).properties,
  textBytes: Type.Integer({ description: 'Size of the text, as UTF-8.', example: 1_834 }),
})
export type ItemSummary = Static<typeof ItemSummary>

export const ItemPage = Type.Object({
  data: Type.Array(ItemSummary),
  nextCursor: Type.Unsafe<string | null>({
    type: 'string',
    nullable: true,
    description: 'null on the last page.',
  }),
})
export type ItemPage = Static<typeof ItemPage>

export const searchLimitMax = 50
const searchMode = { type: 'string', enum: ['hybrid', 'vector', 'keyword'] }

export const SearchRequest = named('SearchRequest', {
  query: Type.String({
    ...notBlank,
    maxLength: 2_000,
    description: 'A question or keywords, in any language.',
    example: 'Can I still return my order?',
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: searchLimitMax,
      default: 5,
      description: 'The most passages to return.',
    }),
  ),
  itemIds: Type.Optional(
    Type.Array(Type.String(), { maxItems: 1_000, description: 'Search only these items.' }),
  ),
  tags: Type.Optional({
    ...Tags,
    description: 'Search only items with these tags; both hold with `itemIds`.',
  }),
  tagsMatch: Type.Optional(TagsMatchName),
  mode: Type.Optional(
    Type.Unsafe<SearchMode>({
      ...searchMode,
      default: 'hybrid',
      description: 'By meaning (vector), by words (keyword), or both.',
    }),
  ),
  timeoutMs: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: 10_000,
      default: 300,
      description: 'For the whole search. When it is over, the answer is what keyword search found.',
    }),
  ),
})
export type SearchRequest = Static<typeof SearchRequest>
export type SearchMode = 'hybrid' | 'vector' | 'keyword'

export const SearchHit = named('SearchHit', {
  itemId: ItemId,
  name: Type.String({ example: 'Refund policy' }),
  heading: Type.Unsafe<string | null>({ type: 'string', nullable: true, example: 'Refunds' }),
  text: Type.String({
    description: 'One chunk, or up to three of one section that follow each other.',
    example: 'We refund any order within 30 days.',
  }),
  position: Type.Integer({
    description: "Position of its first chunk; 0 for the item's first chunk.",
    example: 0,
  }),
  score: Type.Number({
    description: '0 to 1; 1 means first in every ranking used. Compare scores only within one answer.',
    example: 1,
  }),
  matched: named('Matched', {
    keyword: Type.Boolean({
      description: 'Whether it has words of the query; always false where words were not searched.',
      example: true,
    }),
    vector: Type.Boolean({
      description:
        'Whether its vector is among the nearest, however far away they are; always false where vectors were not searched.',
      example: true,
    }),
  }),
})
export type SearchHit = Static<typeof SearchHit>

export const SearchAnswer = named('SearchAnswer', {
  data: Type.Array(SearchHit),
  mode: Type.Unsafe<SearchMode>({ ...searchMode, description: 'What was actually used.' }),
  tookMs: Type.Number({ example: 2.4 }),
  coverage: Type.Unsafe<number | null>({
    type: 'number',
    nullable: true,
    description:
      'How much of the query the best passage covers, 0 to 1, whatever the limit. Unlike scores, it can be compared ' +
      'between queries. Null in mode `vector`, and for a query without a word.',
    example: 0.72,
  }),
})
export type SearchAnswer = Static<typeof SearchAnswer>

/**
 * An answer whose coverage is below this is probably none. `bun run bench:retrieval` counts: 1 to 3 % of answers are below
 * 0.3, 5 to 10 % below 0.4.
 */
const poorCoverage = 0.3

/** What a model should know before it reads the passages. */
export function warningsOf({ data, coverage }: SearchAnswer): string[] {
  const isPoor = data.length > 0 && coverage !== null && coverage < poorCoverage
  return isPoor ? ['No passage covers this question well.'] : []
}
