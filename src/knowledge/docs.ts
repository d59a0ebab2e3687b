import type { OpenAPIV3 } from 'openapi-types'
import type { ErrorCode } from '../errors.ts'
import {
  deletedAnswer,
  fieldsParameter,
  headerOf,
  headerParameter,
  jsonAnswer,
  keyedAnswers,
  listParameter,
  notModified,
  pathParameter,
  queryParameter,
} from '../http/openapi.ts'
import { tagPattern, tagsMax } from '../text/tags.ts'
import { readableFiles } from './files/file-text.ts'
import { itemFields } from './item-list.ts'
import { Item, ItemId, ItemList, Preview, SearchAnswer, UploadedFile } from './schemas.ts'

// The routes of knowledge in the OpenAPI document.

const keyed = { tags: ['Knowledge'], security: [{ apiKey: [] }] }
/** Why a body may be refused. */
export const badBody: ErrorCode[] = ['invalid_request', 'payload_too_large', 'unsupported_media_type']
const parameters = [pathParameter('id', "The item's id.", 'kn_019a5f0c2b7e7cc0a1d2e3f405162738', ItemId)]

const optional = { required: false }
const ifMatch = headerParameter(
  'If-Match',
  'The `ETag` of the item as you read it. If the item has changed since, nothing is written and the answer is 412.',
  '*',
  optional,
)
const ifNoneMatch = headerParameter(
  'If-None-Match',
  '`*` only creates. If the item already exists, nothing is written and the answer is 412.',
  '"none"',
  optional,
)

const indexHeader = {
  'Callbook-Index': headerOf('`ready` if vector search finds it, too; otherwise `pending`.', 'ready'),
}
/** Headers of the answer that creates an item. */
const createdHeaders = {
  ...indexHeader,
  'Callbook-Duplicate-Of': headerOf(
    'The id of the oldest item that already had exactly this text; absent if there was none. The new item is stored all the same.',
    'refund-policy',
    false,
  ),
}
/** Headers of the answer to a change. */
const changedHeaders = { ...indexHeader, ETag: { $ref: '#/components/headers/ETag' } }

const changed =
  'Unchanged chunks keep their vectors. The others are embedded first, for up to INDEX_WAIT_MS; search ' +
  'finds the old text until then and the new text afterwards. The old text is erased like that of a ' +
  'deleted item, with a receipt.'

const idempotencyKey = headerParameter(
  'Idempotency-Key',
  'A text of your choice: a new one for each create, the same one for its retries. For 24 hours, a repeated request ' +
    'answers with the item that the first one created, and with `Idempotent-Replayed: true`.',
  '8e03978e-40d5-43e8-bc93-6894a57f9324',
  { required: false, schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' } },
)

/** A header of requests that ask a question during a call. */
export const callHeader = headerParameter(
  'X-Call-Id',
  "The platform's own id of the call in which this is asked. Where the project keeps questions, this one is erased " +
    'with that call.',
  'call-2026-01-31-0007',
  optional,
)

const tagsParameter = listParameter(
  'tags',
  'Only items with these tags, which may also be separated by commas.',
  { type: 'string', pattern: tagPattern },
  'billing',
)
/** Query parameters that limit a list, or a search, to items with certain tags. */
export const tagParameters = [
  { ...tagsParameter, schema: { ...tagsParameter.schema, maxItems: tagsMax } },
  queryParameter(
    'tagsMatch',
    'Whether an item must have one of the tags, or all of them.',
    { type: 'string', enum: ['any', 'all'], default: 'any' },
    'any',
  ),
]

export const listKnowledge = {
  ...keyed,
  operationId: 'listKnowledge',
  summary: 'List all knowledge items, newest first',
  description: '`fields=name,description` returns only these fields of each item, with its id.',
  parameters: [
    queryParameter(
      'limit',
      'Items per page, up to 1000 (default: all items).',
      { type: 'integer', minimum: 0, maximum: 999_999_999_999_999 },
      100,
    ),
    queryParameter(
      'cursor',
      'The value from the `Link` header of the previous page.',
      { type: 'string' },
      'MTc2OTg1MTgwMDAwMC5rbl8wMTlh',
    ),
    fieldsParameter(itemFields),
    ...tagParameters,
  ],
  responses: keyedAnswers(
    {
      200: jsonAnswer('Every item in the project, or a page of them.', ItemList, {
        headers: {
          Link: headerOf(
            'The next page, if there is one.',
            '</v1/knowledge?limit=2&cursor=…>; rel="next"',
            false,
          ),
        },
      }),
      ...notModified,
    },
    ['invalid_request'],
  ),
}

const createdAnswer = {
  201: jsonAnswer('The item.', Item, {
    headers: {
      Location: headerOf("The item's path.", '/v1/knowledge/kn_019a5f0c2b7e7cc0a1d2e3f405162738'),
      ...createdHeaders,
      'Idempotent-Replayed': headerOf(
        '`true` if an earlier request with this `Idempotency-Key` created the item; otherwise absent.',
        'true',
        false,
      ),
    },
  }),
}
const createErrors: ErrorCode[] = [
  ...badBody,
  'idempotency_key_in_use',
  'idempotency_key_reused',
  'item_was_deleted',
  'insufficient_storage',
]

export const createKnowledge = {
  ...keyed,
  operationId: 'createKnowledge',
  summary: 'Create a knowledge item',
  description:
    'Once this answers, the item is stored and keyword search finds it. If the answer is lost, send the ' +
    'request again with the same `Idempotency-Key`.',
  parameters: [idempotencyKey],
  responses: keyedAnswers(createdAnswer, createErrors),
}

const fileSchema = UploadedFile as OpenAPIV3.SchemaObject

export const createKnowledgeFromFile = {
  ...keyed,
  operationId: 'createKnowledgeFromFile',
  summary: 'Create a knowledge item from a file',
  description:
    `Reads ${readableFiles} as Markdown and keeps their headings, lists and tables. The item is named ` +
    "by the file's title, else by its name. A file has at most 20 MiB, a PDF at most 2,000 pages, and reading takes at " +
    'most 10 seconds, that of a web page at most 3. Nothing that the file refers to is fetched.',
  parameters: [idempotencyKey],
  requestBody: {
    required: true,
    content: {
      'multipart/form-data': { schema: fileSchema, example: { file: UploadedFile.properties.file.example } },
    },
  },
  responses: keyedAnswers(createdAnswer, [...createErrors, 'file_cannot_be_read']),
}

export const previewKnowledge = {
  ...keyed,
  operationId: 'previewKnowledge',
  summary: 'Preview how a text is split into chunks',
  description: 'Returns the chunks as they would be stored, searched and returned. Nothing is stored.',
  responses: keyedAnswers({ 200: jsonAnswer('The chunks in order.', Preview) }, badBody),
}

export const searchKnowledge = {
  ...keyed,
  operationId: 'searchKnowledge',
  summary: 'Find passages for an agent',
  description:
    'Best first. If the embedding of the query is late, keyword search alone answers, in time. `mode` says what was used.',
  parameters: [callHeader],
  responses: keyedAnswers(
    {
      200: jsonAnswer('Passages, best first.', SearchAnswer, {
        headers: {
          'Server-Timing': headerOf(
            'Where the time went, in milliseconds. Keyword and vector search run in parallel.',
            'keyword;dur=1.2, vector;dur=1.9, fusion;dur=0.3, total;dur=2.4',
          ),
        },
      }),
    },
    badBody,
  ),
}

export const getKnowledge = {
  ...keyed,
  operationId: 'getKnowledge',
  summary: 'Get a knowledge item',
  parameters,
  responses: keyedAnswers({ 200: jsonAnswer('The item.', Item), ...notModified }, [
    'not_found',
    'method_not_allowed',
  ]),
}

export const replaceKnowledge = {
  ...keyed,
  operationId: 'replaceKnowledge',
  summary: 'Replace a knowledge item, or create it under an id of your own',
  description: `${changed} The same request twice changes nothing the second time.`,
  parameters: [
    pathParameter(
      'id',
      "The item's id. The id of a new item must not start with `kn_`, nor be `search`, `preview` or `files`.",
      'refund-policy',
      ItemId,
    ),
    ifMatch,
    ifNoneMatch,
  ],
  responses: keyedAnswers(
    {
      200: jsonAnswer('The changed item.', Item, { headers: changedHeaders }),
      201: jsonAnswer('The created item.', Item, {
        headers: {
          ...changedHeaders,
          ...createdHeaders,
          Location: headerOf("The item's path.", '/v1/knowledge/refund-policy'),
        },
      }),
    },
    [...badBody, 'not_found', 'method_not_allowed', 'item_has_changed', 'insufficient_storage'],
  ),
}

export const changeKnowledge = {
  ...keyed,
  operationId: 'changeKnowledge',
  summary: 'Change parts of a knowledge item',
  description: `${changed} Absent fields stay as they are.`,
  parameters: [...parameters, ifMatch],
  responses: keyedAnswers({ 200: jsonAnswer('The changed item.', Item, { headers: changedHeaders }) }, [
    ...badBody,
    'not_found',
    'method_not_allowed',
    'item_has_changed',
    'insufficient_storage',
  ]),
}

export const deleteKnowledge = {
  ...keyed,
  operationId: 'deleteKnowledge',
  summary: 'Delete a knowledge item and all its vectors',
  description: 'The item is gone once this answers. Its erasure receipt says when its last byte is gone.',
  parameters: [...parameters, ifMatch],
  responses: keyedAnswers({ 200: deletedAnswer('The item is gone, with every chunk and vector.') }, [
    'not_found',
    'method_not_allowed',
    'item_has_changed',
    'insufficient_storage',
  ]),
}
