import { Elysia } from 'elysia'
import { callerContext } from '../../http/caller.ts'
import { readParameters } from '../../http/parameters.ts'
import * as docs from './docs.ts'
import type { Figures } from './figures.ts'

/** /v1/metrics: figures of a project's calls. */
export function figureRoutes(figures: Figures) {
  return new Elysia()
    .use(callerContext())
    .get(
      '/v1/metrics',
      ({ caller, request }) => figures.read(caller.projectId, readParameters(request.url)),
      {
        detail: docs.readFigures,
      },
    )
}
