import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { Search } from '../knowledge/search/search.ts'
import type { StoredKnowledge } from '../knowledge/stored-knowledge.ts'
import { bodyOf } from '../validation.ts'
import { byPerson } from './audit.ts'
import { limitOf } from './page-request.ts'
import { ExplainRequest, NewItem, PageRequest, PreviewRequest } from './schemas.ts'

interface ConsoleKnowledgeOptions {
  knowledge: Knowledge
  storedKnowledge: StoredKnowledge
  search: Search
}

const detail = { hide: true }

/** /console/api/projects/:project/knowledge: what the agents know, how far it is indexed, what a question finds. */
export function consoleKnowledgeRoutes({ knowledge, storedKnowledge, search }: ConsoleKnowledgeOptions) {
  return new Elysia({ prefix: '/console/api/projects/:project/knowledge' })
    .use(consoleContext())
    .get(
      '',
      ({ member, query: { cursor, limit } }) =>
        storedKnowledge.list(member.projectId, { cursor, limit: limitOf(limit) }),
      { query: bodyOf(PageRequest), detail },
    )
    .post(
      '',
      ({ member, body, set }) => {
        set.status = 201
        return storedKnowledge.add(member.projectId, body)
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
      body: bodyOf(ExplainRequest),
      detail,
    })
    .get('/:id', ({ member, params }) => storedKnowledge.get(member.projectId, params.id), { detail })
    .get('/:id/chunks', ({ member, params }) => storedKnowledge.chunks(member.projectId, params.id), {
      detail,
    })
    .delete(
      '/:id',
      ({ member, person, address, params }) =>
        knowledge.remove(member.projectId, params.id, byPerson(person, address)),
      { detail },
    )
}
