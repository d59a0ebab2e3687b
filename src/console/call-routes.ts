import { Elysia } from 'elysia'
import type { Calls } from '../calls/calls.ts'
import type { JsonBytes } from '../calls/document.ts'
import type { Overview } from '../calls/overview.ts'
import type { Call } from '../calls/schemas.ts'
import { consoleContext } from '../http/console-context.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { byPerson } from '../identity.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import { bodyOf } from '../validation.ts'
import { Period } from './schemas.ts'

const detail = { hide: true }
const period = { query: bodyOf(Period), detail }

interface CallRoutesOptions {
  calls: Calls
  overview: Overview
  knowledge: Knowledge
  buffers: ResponseBuffers
}

/** /console/api/projects/:project/calls and /overview. */
export function consoleCallRoutes({ calls, overview, knowledge, buffers }: CallRoutesOptions) {
  return new Elysia({ prefix: '/console/api/projects/:project' })
    .use(consoleContext())
    .get('/calls', ({ member, query }) => calls.find(member.projectId, query), { detail })
    .get('/calls/facets', ({ member }) => calls.facets(member.projectId), { detail })
    .get(
      '/calls/:id',
      async ({ member, params }) => {
        const { document } = await buffers.bodyOf((admit) => calls.get(member.projectId, params.id, admit))
        return answerOf(document)
      },
      { detail },
    )
    .delete(
      '/calls/:id',
      ({ member, person, address, params }) =>
        calls.remove(member.projectId, params.id, byPerson(person, address)),
      { detail },
    )
    .get('/overview/figures', ({ member, query }) => overview.figures(member.projectId, query), period)
    .get('/overview/days', ({ member, query }) => overview.days(member.projectId, query), period)
    .get('/overview/durations', ({ member, query }) => overview.durations(member.projectId, query), period)
    .get('/overview/end-reasons', ({ member, query }) => overview.endReasons(member.projectId, query), period)
    .get('/overview/knowledge', ({ member }) => knowledge.figures(member.projectId), { detail })
}

/** Sends the stored document byte for byte; the type is what the client will parse it as. */
function answerOf(document: string | JsonBytes | ReadableStream): Call {
  return new Response(document, { headers: jsonHeaders }) as unknown as Call
}
