import { Elysia } from 'elysia'
import { byKey, callerContext } from '../http/caller.ts'
import { answerTagged, isForRecord, type Tags } from '../http/conditional.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import { readParameters } from '../http/parameters.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { bodyOf } from '../validation.ts'
import * as docs from './docs.ts'
import type { IdempotentCreates } from './idempotent-creates.ts'
import type { ChangedItem, ItemChanges, Precondition } from './item-changes.ts'
import { type ItemListRequest, type ItemSlices, readItemListRequest, toNextLink } from './item-list.ts'
import type { Knowledge } from './knowledge.ts'
import { ItemChange, NewItem, PreviewRequest, SearchRequest } from './schemas.ts'
import type { TimeShares } from './search/explain.ts'
import type { Search } from './search/search.ts'

interface KnowledgeRoutesOptions {
  knowledge: Knowledge
  itemChanges: ItemChanges
  idempotentCreates: IdempotentCreates
  search: Search
  tags: Tags
  buffers: ResponseBuffers
}

/** What a handler sets of its answer. */
interface Answer {
  status?: number | string
  headers: Record<string, string | number>
}

/** /v1/knowledge: what agents know, and how they find it. */
export function knowledgeRoutes(options: KnowledgeRoutesOptions) {
  const { knowledge, itemChanges, idempotentCreates, search, tags, buffers } = options
  const isWanted =
    (projectId: number, request: Request): Precondition =>
    (changeSeq) =>
      isForRecord(request, changeSeq === null ? null : tags.of(projectId, changeSeq))
  const answerChanged = (
    projectId: number,
    { item, changeSeq, isIndexed, outcome }: ChangedItem,
    set: Answer,
  ) => {
    set.status = outcome === 'created' ? 201 : 200
    if (outcome === 'created') set.headers.location = `/v1/knowledge/${item.id}`
    set.headers.etag = tags.of(projectId, changeSeq)
    set.headers['callbook-index'] = isIndexed ? 'ready' : 'pending'
    return item
  }
  return new Elysia({ prefix: '/v1/knowledge' })
    .use(callerContext())
    .get(
      '',
      async ({ caller: { projectId }, request }) => {
        const asked = readItemListRequest(readParameters(request.url))
        return await answerTagged(request, await tags.ofProject(projectId), () =>
          toListResponse(knowledge.list(projectId, asked), asked, buffers),
        )
      },
      { detail: docs.listKnowledge },
    )
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
      { parse: 'json', body: bodyOf(NewItem), detail: docs.createKnowledge },
    )
    .post('/preview', ({ body }) => knowledge.preview(body.text), {
      parse: 'json',
      body: bodyOf(PreviewRequest),
      detail: docs.previewKnowledge,
    })
    .post(
      '/search',
      async ({ caller, body, set }) => {
        const { answer, shares } = await search.search(caller.projectId, body)
        set.headers['server-timing'] = toServerTiming(shares)
        return answer
      },
      { parse: 'json', body: bodyOf(SearchRequest), detail: docs.searchKnowledge },
    )
    .get(
      '/:id',
      async ({ caller: { projectId }, params, request }) => {
        // Before the item: one that changes in between is then asked for again.
        const tag = tags.of(projectId, await knowledge.changeSeq(projectId, params.id))
        return await answerTagged(request, tag, async () =>
          Response.json(await knowledge.get(projectId, params.id), { headers: jsonHeaders }),
        )
      },
      { detail: docs.getKnowledge },
    )
    .put(
      '/:id',
      async ({ caller: { projectId }, request, params, body, set }) => {
        const wanted = isWanted(projectId, request)
        return answerChanged(projectId, await itemChanges.put(projectId, params.id, body, wanted), set)
      },
      { parse: 'json', body: bodyOf(NewItem), detail: docs.replaceKnowledge },
    )
    .patch(
      '/:id',
      async ({ caller: { projectId }, request, params, body, set }) => {
        const wanted = isWanted(projectId, request)
        return answerChanged(projectId, await itemChanges.patch(projectId, params.id, body, wanted), set)
      },
      { parse: 'json', body: bodyOf(ItemChange), detail: docs.changeKnowledge },
    )
    .delete('/:id', ({ caller, params }) => knowledge.delete(caller.projectId, params.id, byKey(caller)), {
      detail: docs.deleteKnowledge,
    })
}

/** https://www.w3.org/TR/server-timing */
function toServerTiming(shares: TimeShares): string {
  return Object.entries(shares)
    .map(([name, durationMs]) => `${name};dur=${durationMs.toFixed(2)}`)
    .join(', ')
}

async function toListResponse(
  listed: Promise<ItemSlices>,
  asked: ItemListRequest,
  buffers: ResponseBuffers,
): Promise<Response> {
  const { slices, next } = await listed
  const response = new Response(await buffers.streamOf('[', slices, ']'), { headers: jsonHeaders })
  if (next !== null) response.headers.set('Link', toNextLink(asked, next))
  return response
}
