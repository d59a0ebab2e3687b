import type { Upload } from '../http/json-body.ts'
import type { FileReader } from '../knowledge/files/file-reader.ts'
import type { IndexedItems } from '../knowledge/indexed-items.ts'
import type { ItemChanges } from '../knowledge/item-changes.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { QuestionGroups } from '../knowledge/questions/question-groups.ts'
import { NewItem, PreviewRequest, SearchRequest } from '../knowledge/schemas.ts'
import type { Search } from '../knowledge/search/search.ts'
import { bodyOf } from '../validation.ts'
import { consoleRoutes, jsonBody, limitOf } from './console-routes.ts'
import { AskedRequest, EditedItem, ItemsRequest } from './schemas.ts'

export interface KnowledgeParts {
  knowledge: Knowledge
  itemChanges: ItemChanges
  indexedItems: IndexedItems
  files: FileReader
  search: Search
}

/** /console/api/projects/:project/knowledge: items, their index status, and the playground's search. */
export function knowledgeRoutes({ knowledge, itemChanges, indexedItems, files, search }: KnowledgeParts) {
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
      .post('/read', async ({ member, body }) => {
        // json-body.ts reads the bodies of this route as uploads.
        const { type, bytes } = body as Upload
        return (await files.readForm(member.projectId, type, bytes)).file
      })
      .post('/preview', ({ body }) => knowledge.preview(body.text), jsonBody(PreviewRequest))
      .post('/search', ({ member, body }) => search.explain(member.projectId, body), jsonBody(SearchRequest))
      .get('/:id', ({ member, params }) => indexedItems.get(member.projectId, params.id))
      .put(
        '/:id',
        async ({ member, params, body: { changeSeq, ...item } }) => {
          await itemChanges.patch(member.projectId, params.id, item, (current) => current === changeSeq)
          return await indexedItems.get(member.projectId, params.id)
        },
        jsonBody(EditedItem),
      )
      .post(
        '/:id/preview',
        ({ member, params, body }) => itemChanges.preview(member.projectId, params.id, body),
        jsonBody(NewItem),
      )
      .get('/:id/chunks', ({ member, params }) => indexedItems.chunks(member.projectId, params.id))
      .delete('/:id', ({ member, by, params }) => knowledge.delete(member.projectId, params.id, by))
  )
}

/** /console/api/projects/:project/questions: what agents asked, where the project keeps it. */
export function questionRoutes(questionGroups: QuestionGroups) {
  return consoleRoutes('/console/api/projects/:project/questions')
    .get('', ({ member }) => questionGroups.counts(member.projectId))
    .get('/asked', ({ member, query }) => questionGroups.list(member.projectId, query), {
      query: bodyOf(AskedRequest),
    })
}
