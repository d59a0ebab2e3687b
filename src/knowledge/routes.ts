import { Elysia } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'
import { byKey, callerContext } from '../http/caller.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import { deletedAnswer, headerOf, jsonAnswer, keyedAnswers, pathParameter } from '../http/openapi.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { bodyOf } from '../validation.ts'
import type { IdempotentCreates } from './idempotent-creates.ts'
import type { Knowledge } from './knowledge.ts'
import { Item, ItemList, NewItem, Preview, PreviewRequest, SearchAnswer, SearchRequest } from './schemas.ts'
import type { Search, SearchReport, TimeShares } from './search/search.ts'

const tags = ['Knowledge']
const security = [{ apiKey: [] }]
const idParameter = pathParameter('id', "The item's id.", 'kn_019a5f0c2b7e7cc0a1d2e3f405162738')

const idempotencyKey: OpenAPIV3.ParameterObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A text of your own choice, new for each create and the same for its retries: for 24 hours a repeated request ' +
    'answers the item that the first one made, with `Idempotent-Replayed: true`.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  example: '8e03978e-40d5-43e8-bc93-6894a57f9324',
}

interface KnowledgeRoutesOptions {
  knowledge: Knowledge
  idempotentCreates: IdempotentCreates
  search: Search
  buffers: ResponseBuffers
}

/** /v1/knowledge: what agents know, and how they find it. */
export function knowledgeRoutes({ knowledge, idempotentCreates, search, buffers }: KnowledgeRoutesOptions) {
  return new Elysia({ prefix: '/v1/knowledge' })
    .use(callerContext())
    .get('', ({ caller }) => toListResponse(knowledge.list(caller.projectId), buffers), {
      detail: {
        tags,
        security,
        operationId: 'listKnowledge',
        summary: 'List all knowledge items, newest first',
        responses: keyedAnswers({ 200: jsonAnswer('Every item of the project.', ItemList) }, []),
      },
    })
    .post(
      '',
      async ({ caller, request, body, set }) => {
        const key = request.headers.get('idempotency-key')
        const { item, isIndexed, isReplayed } = await idempotentCreates.add(caller.projectId, body, key)
        set.status = 201
        if (isReplayed) set.headers['idempotent-replayed'] = 'true'
        set.headers.location = `/v1/knowledge/${item.id}`
        set.headers['callbook-index'] = isIndexed ? 'ready' : 'pending'
        return item
      },
      {
        parse: 'json',
        body: bodyOf(NewItem),
        detail: {
          tags,
          security,
          operationId: 'createKnowledge',
          summary: 'Create a knowledge item',
          description:
            'The item is stored when this answers, and found by keyword at once. A request whose answer was lost may ' +
            'be sent again under the same `Idempotency-Key`.',
          parameters: [idempotencyKey],
          responses: keyedAnswers(
            {
              201: jsonAnswer('The item.', Item, {
                headers: {
                  Location: headerOf("The item's path.", '/v1/knowledge/kn_019a5f0c2b7e7cc0a1d2e3f405162738'),
                  'Callbook-Index': headerOf(
                    '`ready` when vector search finds it too, else `pending`.',
                    'ready',
                  ),
                  'Idempotent-Replayed': headerOf(
                    '`true` when an earlier request with this `Idempotency-Key` made the item; else absent.',
                    'true',
                    false,
                  ),
                },
              }),
            },
            [
              'invalid_request',
              'idempotency_key_in_use',
              'item_was_deleted',
              'payload_too_large',
              'unsupported_media_type',
              'idempotency_key_reused',
              'insufficient_storage',
            ],
          ),
        },
      },
    )
    .post('/preview', ({ body }) => knowledge.preview(body.text), {
      parse: 'json',
      body: bodyOf(PreviewRequest),
      detail: {
        tags,
        security,
        operationId: 'previewKnowledge',
        summary: 'See how a text would be cut up',
        description: 'The chunks as they would be stored, searched and answered with. Nothing is stored.',
        responses: keyedAnswers({ 200: jsonAnswer('The chunks in their order.', Preview) }, [
          'invalid_request',
          'payload_too_large',
          'unsupported_media_type',
        ]),
      },
    })
    .post(
      '/search',
      ({ caller, body, set }) => {
        const report = ({ shares }: SearchReport) => {
          set.headers['server-timing'] = toServerTiming(shares)
        }
        return search.search(caller.projectId, body, report)
      },
      {
        parse: 'json',
        body: bodyOf(SearchRequest),
        detail: {
          tags,
          security,
          operationId: 'searchKnowledge',
          summary: 'Find passages for an agent',
          description:
            'Best first. When the embedding of the query is late, the words alone answer, in time: `mode` says what was used.',
          responses: keyedAnswers(
            {
              200: jsonAnswer('Passages, best first.', SearchAnswer, {
                headers: {
                  'Server-Timing': headerOf(
                    'Where the time went, in milliseconds; keyword and vector go on side by side.',
                    'keyword;dur=1.2, vector;dur=1.9, fusion;dur=0.3, total;dur=2.4',
                  ),
                },
              }),
            },
            ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
          ),
        },
      },
    )
    .get('/:id', ({ caller, params }) => knowledge.get(caller.projectId, params.id), {
      detail: {
        tags,
        security,
        operationId: 'getKnowledge',
        summary: 'Get a knowledge item',
        parameters: [idParameter],
        responses: keyedAnswers({ 200: jsonAnswer('The item.', Item) }, ['not_found']),
      },
    })
    .delete('/:id', ({ caller, params }) => knowledge.remove(caller.projectId, params.id, byKey(caller)), {
      detail: {
        tags,
        security,
        operationId: 'deleteKnowledge',
        summary: 'Delete a knowledge item and all its vectors',
        description: 'It is gone when this answers; its erasure receipt tells when its bytes are.',
        parameters: [idParameter],
        responses: keyedAnswers({ 200: deletedAnswer('The item is gone, with every chunk and vector.') }, [
          'not_found',
          'insufficient_storage',
        ]),
      },
    })
}

/** https://www.w3.org/TR/server-timing */
function toServerTiming(shares: TimeShares): string {
  return Object.entries(shares)
    .map(([name, durationMs]) => `${name};dur=${durationMs.toFixed(2)}`)
    .join(', ')
}

async function toListResponse(slices: AsyncIterable<string>, buffers: ResponseBuffers): Promise<Response> {
  return new Response(await buffers.streamOf('[', withCommas(slices), ']'), { headers: jsonHeaders })
}

async function* withCommas(slices: AsyncIterable<string>): AsyncGenerator<string> {
  let comma = ''
  for await (const slice of slices) {
    yield comma + slice
    comma = ','
  }
}
