import { Elysia } from 'elysia'
import { byKey, callerContext, callIdOf } from '../http/caller.ts'
import { answerTagged, hasAnswer, isForRecord, type Tags } from '../http/conditional.ts'
import type { Http } from '../http/http.ts'
import { ignoredIn, isStrict, tellIgnored } from '../http/ignored-names.ts'
import type { Upload } from '../http/json-body.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import { readParameters } from '../http/parameters.ts'
import type { Reader, ResponseBuffers } from '../http/response-buffers.ts'
import type { Caller } from '../identity.ts'
import { tagsOfUpload, within } from '../tags.ts'
import { bodyOf } from '../validation.ts'
import * as docs from './docs.ts'
import type { FileReader } from './files/file-reader.ts'
import type { IdempotentCreates, Outcome } from './idempotent-creates.ts'
import type { ChangedItem, ItemChanges } from './item-changes.ts'
import { type ItemListRequest, type ItemSlices, readItemListRequest, toNextLink } from './item-list.ts'
import type { Knowledge, Precondition } from './knowledge.ts'
import type { RecordedSearch } from './questions/recorded-search.ts'
import { ItemChange, NewItem, PreviewRequest, SearchRequest, UploadedFile } from './schemas.ts'
import type { TimeShares } from './search/explain.ts'

interface KnowledgeParts {
  knowledge: Knowledge
  itemChanges: ItemChanges
  idempotentCreates: IdempotentCreates
  files: FileReader
  recordedSearch: Pick<RecordedSearch, 'search'>
  changeTags: Tags
}

/** The part of Elysia's `set` that handlers use. */
interface Answer {
  status?: number | string
  headers: Record<string, string | number>
}

/** /v1/knowledge: what agents know, and how they find it. */
export function knowledgeRoutes({ buffers, contexts }: Http, parts: KnowledgeParts) {
  const { knowledge, itemChanges, idempotentCreates, files, recordedSearch: search, changeTags: tags } = parts
  const create = async (caller: Caller, input: NewItem, { headers }: Request) => {
    const key = headers.get('idempotency-key')
    return toCreatedResponse(await idempotentCreates.add(caller.projectId, input, key, byKey(caller)))
  }
  return new Elysia({ prefix: '/v1/knowledge' })
    .use(callerContext())
    .get(
      '',
      async ({ caller, request }) => {
        const listRequest = readItemListRequest(readParameters(request.url))
        return await answerTagged(request, await tags.ofProject(caller.projectId), () =>
          toListResponse(caller, knowledge.list(caller.projectId, listRequest), listRequest, buffers),
        )
      },
      { detail: docs.listKnowledge },
    )
    .post('', ({ caller, request, body }) => create(caller, body, request), {
      parse: 'json',
      body: bodyOf(NewItem),
      detail: docs.createKnowledge,
    })
    .post(
      '/files',
      async ({ caller, request, body }) => {
        // json-body.ts reads the bodies of this route as uploads.
        const { type, bytes } = body as Upload
        const { file, tags, parts } = await files.readForm(caller.projectId, type, bytes)
        tellIgnored(contexts.of(request), ignoredIn(UploadedFile, parts, isStrict(request)))
        return await create(caller, { ...file, tags: tagsOfUpload(tags, file.tags) }, request)
      },
      { detail: docs.createKnowledgeFromFile },
    )
    .post('/preview', ({ body }) => knowledge.preview(body.text), {
      parse: 'json',
      body: bodyOf(PreviewRequest),
      detail: docs.previewKnowledge,
    })
    .post(
      '/search',
      async ({ caller, body, request, set }) => {
        const { answer, shares } = await search.search(within(caller), body, callIdOf(request))
        set.headers['server-timing'] = toServerTiming(shares)
        return answer
      },
      { parse: 'json', body: bodyOf(SearchRequest), detail: docs.searchKnowledge },
    )
    .get(
      '/:id',
      async ({ caller: { projectId }, params, request }) => {
        // Read before the item: if that changes in between, its old tag makes the client ask again.
        const tag = tags.of(projectId, await knowledge.changeSeq(projectId, params.id))
        return await answerTagged(request, tag, async () =>
          Response.json(await knowledge.get(projectId, params.id), { headers: jsonHeaders }),
        )
      },
      { detail: docs.getKnowledge },
    )
    .put(
      '/:id',
      async ({ caller, request, params, body, set }) => {
        const { projectId } = caller
        const isWanted = preconditionOf(request, tags, projectId)
        const changed = await itemChanges.put(projectId, params.id, body, byKey(caller), isWanted)
        return answerChanged(changed, tags.of(projectId, changed.changeSeq), set)
      },
      { parse: 'json', body: bodyOf(NewItem), detail: docs.replaceKnowledge },
    )
    .patch(
      '/:id',
      async ({ caller, request, params, body, set }) => {
        const { projectId } = caller
        const isWanted = preconditionOf(request, tags, projectId)
        const changed = await itemChanges.patch(projectId, params.id, body, byKey(caller), isWanted)
        return answerChanged(changed, tags.of(projectId, changed.changeSeq), set)
      },
      { parse: 'json', body: bodyOf(ItemChange), detail: docs.changeKnowledge },
    )
    .delete(
      '/:id',
      ({ caller, request, params }) => {
        const isWanted = preconditionOf(request, tags, caller.projectId)
        return knowledge.delete(caller.projectId, params.id, byKey(caller), isWanted)
      },
      { detail: docs.deleteKnowledge },
    )
}

/** Whether an item's version meets `If-Match` and `If-None-Match`; undefined for a request with neither. */
function preconditionOf(request: Request, tags: Tags, projectId: number): Precondition | undefined {
  if (!request.headers.has('if-match') && !request.headers.has('if-none-match')) return undefined
  return (changeSeq) => {
    const tag = changeSeq === null ? null : tags.of(projectId, changeSeq)
    return isForRecord(request, tag) && !(tag !== null && hasAnswer(request, tag))
  }
}

function answerChanged({ item, isIndexed, duplicateOf, outcome }: ChangedItem, tag: string, set: Answer) {
  set.status = outcome === 'created' ? 201 : 200
  if (outcome === 'created') set.headers.location = `/v1/knowledge/${item.id}`
  if (duplicateOf) set.headers['callbook-duplicate-of'] = duplicateOf
  set.headers.etag = tag
  set.headers['callbook-index'] = isIndexed ? 'ready' : 'pending'
  return item
}

function toCreatedResponse({ item, isIndexed, duplicateOf, isReplayed }: Outcome): Response {
  const response = new Response(JSON.stringify(item), { status: 201, headers: jsonHeaders })
  if (isReplayed) response.headers.set('Idempotent-Replayed', 'true')
  response.headers.set('Location', `/v1/knowledge/${item.id}`)
  response.headers.set('Callbook-Index', isIndexed ? 'ready' : 'pending')
  if (duplicateOf) response.headers.set('Callbook-Duplicate-Of', duplicateOf)
  return response
}

/** https://www.w3.org/TR/server-timing */
function toServerTiming(shares: TimeShares): string {
  return Object.entries(shares)
    .map(([name, durationMs]) => `${name};dur=${durationMs.toFixed(2)}`)
    .join(', ')
}

async function toListResponse(
  reader: Reader,
  list: Promise<ItemSlices>,
  listRequest: ItemListRequest,
  buffers: ResponseBuffers,
): Promise<Response> {
  const { slices, next } = await list
  const response = new Response(await buffers.streamOf(reader, '[', slices, ']'), { headers: jsonHeaders })
  if (next !== null) response.headers.set('Link', toNextLink(listRequest, next))
  return response
}
