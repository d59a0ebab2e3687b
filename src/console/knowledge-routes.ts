import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import { byPerson } from '../identity.ts'
import type { IndexedItems } from '../knowledge/indexed-items.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import { NewItem, PreviewRequest, SearchRequest } from '../knowledge/schemas.ts'
import type { Search } from '../knowledge/search/search.ts'
import { bodyOf } from '../validation.ts'
import { pageLimitOf } from './page-request.ts'
import { ItemsRequest } from './schemas.ts'

const detail = { hide: true }

interface KnowledgeRoutesOptions {
  knowledge: Knowledge
  indexedItems: IndexedItems
  search: Search
}

/** /console/api/projects/:project/knowledge: items, their index status, and the playground's search. */
export function consoleKnowledgeRoutes({ knowledge, indexedItems, search }: KnowledgeRoutesOptions) {
  return new Elysia({ prefix: '/console/api/projects/:project/knowledge' })
    .use(consoleContext())
    .get(
      '',
      ({ member, query }) => indexedItems.list(member.projectId, { ...pageLimitOf(query), name: query.name }),
      { query: bodyOf(ItemsRequest), detail },
    )
    .post(
      '',
      async ({ member, body, set }) => {
        // The chunks are embedded in the background; the page polls the status.
        const { item } = await knowledge.store(member.projectId, body)
        set.status = 201
        return await indexedItems.get(member.projectId, item.id)
      },
      { parse: 'json', body: bodyOf(NewItem), detail },
    )
    .post('/preview', ({ body }) => knowledge.preview(body.text), {
      parse: 'json',
      body: bodyOf(PreviewRequest),
      detail,
    })
    .post('/search', ({ member, body }) => search.explain(member.projectId, body), {
      parse: 'json',
      body: bodyOf(SearchRequest),
      detail,
    })
    .get('/:id', ({ member, params }) => indexedItems.get(member.projectId, params.id), { detail })
    .get('/:id/chunks', ({ member, params }) => indexedItems.chunks(member.projectId, params.id), {
      detail,
    })
    .delete(
      '/:id',
      ({ member, person, address, params }) =>
        knowledge.delete(member.projectId, params.id, byPerson(person, address)),
      { detail },
    )
}
