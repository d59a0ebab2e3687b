import { Elysia } from 'elysia'
import { callerContext } from '../../../http/caller.ts'
import { readParameters } from '../../../http/parameters.ts'
import type { Comparing } from './comparing.ts'
import * as docs from './docs.ts'

/** /v1/compare: figures of two groups of calls or more, and whether they differ. */
export function compareRoutes(comparing: Pick<Comparing, 'read'>) {
  return new Elysia()
    .use(callerContext())
    .get(
      '/v1/compare',
      ({ caller, request }) => comparing.read(caller.projectId, readParameters(request.url)),
      { detail: docs.compareCalls },
    )
}
