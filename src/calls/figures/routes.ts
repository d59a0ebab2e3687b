import { Elysia } from 'elysia'
import { callerContext } from '../../http/caller.ts'
import { readParameters } from '../../http/parameters.ts'
import { formOf, headersOf } from '../reading/page-response.ts'
import type { Comparing } from './comparing/comparing.ts'
import { compareCalls } from './comparing/docs.ts'
import * as docs from './docs.ts'
import type { Figures } from './figures.ts'
import { tableOf } from './table.ts'

interface FigureParts {
  figures: Pick<Figures, 'read'>
  comparing: Pick<Comparing, 'read'>
}

/** /v1/metrics and /v1/compare: figures of a project's calls, and whether those of groups differ. */
export function figureRoutes({ figures, comparing }: FigureParts) {
  return new Elysia()
    .use(callerContext())
    .get(
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
    .get(
      '/v1/compare',
      ({ caller, request }) => comparing.read(caller.projectId, readParameters(request.url)),
      { detail: compareCalls },
    )
}
