import { Elysia } from 'elysia'
import { callerContext } from '../../http/caller.ts'
import { readParameters } from '../../http/parameters.ts'
import { formOf, headersOf } from '../reading/page-response.ts'
import * as docs from './docs.ts'
import type { Figures } from './figures.ts'
import { tableOf } from './table.ts'

/** /v1/metrics: figures of a project's calls. */
export function figureRoutes(figures: Figures) {
  return new Elysia().use(callerContext()).get(
    '/v1/metrics',
    async ({ caller, request }) => {
      const answer = await figures.read(caller.projectId, readParameters(request.url))
      const { type, hasMark } = formOf(request.headers.get('accept'), ['application/json', 'text/csv'])
      return type === 'text/csv'
        ? new Response(tableOf(answer, { hasMark }), { headers: headersOf(type) })
        : answer
    },
    { detail: docs.readFigures },
  )
}
