import type { Upload } from '../http/json-body.ts'
import type { FileReader } from '../knowledge/files/file-reader.ts'
import type { IndexedItems } from '../knowledge/indexed-items.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import { NewItem, PreviewRequest, SearchRequest } from '../knowledge/schemas.ts'
import type { Search } from '../knowledge/search/search.ts'
import { bodyOf } from '../validation.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import { limitOf } from './page-request.ts'
import { ItemsRequest } from './schemas.ts'

export interface KnowledgeRoutesOptions {
  knowledge: Knowledge
  indexedItems: IndexedItems
  files: FileReader
  search: Search
}

/** /console/api/projects/:project/knowledge: items, their index status, and the playground's search. */
export function consoleKnowledgeRoutes({ knowledge, indexedItems, files, search }: KnowledgeRoutesOptions) {
  return (
    consoleRoutes('/console/api/projects/:project/knowledge')
      .get(
        '',
        ({ member, query }) =>
          indexedItems.list(member.projectId, {
            ...query,
            cursor: query.cursor || undefined,
            limit: limitOf(query.limit),
          }),
        { query: bodyOf(ItemsRequest) },
      )
      .post(
        '',
        async ({ member, body, set }) => {
          // The chunks are embedded in the background; the page polls the status.
          const { item } = await knowledge.store(member.projectId, body)
          set.status = 201
          return await indexedItems.get(member.projectId, item.id)
        },
        jsonBody(NewItem),
      )
      // Reads a file without storing it: in the page it can still be edited.
      .post('/read', async ({ body }) => {
        // What json-body.ts reads for this route.
        const { type, bytes } = body as Upload
        return (await files.readForm(type, bytes)).file
      })
      .post('/preview', ({ body }) => knowledge.preview(body.text), jsonBody(PreviewRequest))
      .post('/search', ({ member, body }) => search.explain(member.projectId, body), jsonBody(SearchRequest))
      .get('/:id', ({ member, params }) => indexedItems.get(member.projectId, params.id))
      .get('/:id/chunks', ({ member, params }) => indexedItems.chunks(member.projectId, params.id))
      .delete('/:id', ({ member, by, params }) => knowledge.delete(member.projectId, params.id, by))
  )
}
