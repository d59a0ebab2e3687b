import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import type { Item, Preview } from '../knowledge/schemas.ts'
import { bodyOf } from '../validation.ts'
import type { ExplainedSearch, IndexStatus, KnowledgeRows, StoredChunk } from './answers.ts'
import { notBuilt } from './not-built.ts'
import { ExplainRequest, NewItem, PageRequest, PreviewRequest } from './schemas.ts'

const detail = { hide: true }

/** /console/api/projects/:project/knowledge: what the agents know, how far it is indexed, what a question finds. */
export function consoleKnowledgeRoutes() {
  return new Elysia({ prefix: '/console/api/projects/:project/knowledge' })
    .use(consoleContext())
    .get('', () => notBuilt<KnowledgeRows>(), { query: bodyOf(PageRequest), detail })
    .post('', () => notBuilt<Item & { status: IndexStatus }>(), {
      parse: 'json',
      body: bodyOf(NewItem),
      detail,
    })
    .post('/preview', () => notBuilt<Preview>(), {
      parse: 'json',
      body: bodyOf(PreviewRequest),
      detail,
    })
    .post('/search', () => notBuilt<ExplainedSearch>(), {
      parse: 'json',
      body: bodyOf(ExplainRequest),
      detail,
    })
    .get('/:id', () => notBuilt<Item & { status: IndexStatus }>(), { detail })
    .get('/:id/chunks', () => notBuilt<{ data: StoredChunk[] }>(), { detail })
    .delete('/:id', () => notBuilt<{ id: string; deleted: true }>(), { detail })
}
