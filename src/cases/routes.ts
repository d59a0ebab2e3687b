import { Elysia } from 'elysia'
import type { Keys } from '../access/keys/keys.ts'
import type { OpenSessions } from '../access/people/open-sessions.ts'
import { byKey, callerContext } from '../http/caller.ts'
import { consoleContext } from '../http/console-context.ts'
import type { Http } from '../http/http.ts'
import { readParameters } from '../http/parameters.ts'
import { byPerson } from '../identity.ts'
import { bodyOf } from '../validation.ts'
import { exportCases, listCases, readExportRequest, readListRequest } from './case-response.ts'
import type { Cases } from './cases.ts'
import * as docs from './docs.ts'
import { CaseRequest, requestErrors } from './schemas.ts'

interface CaseParts {
  cases: Cases
  /** Tells the name of the key that makes a case. */
  keys: Pick<Keys, 'describe'>
}

/** /v1/cases: tests that were made of calls. */
export function caseRoutes({ buffers }: Http, { cases, keys }: CaseParts) {
  return (
    new Elysia({ prefix: '/v1/cases' })
      .use(callerContext())
      .get(
        '',
        ({ caller, request }) =>
          listCases(cases, { ...caller, buffers }, readListRequest(readParameters(request.url))),
        { detail: docs.listCases },
      )
      .post(
        '',
        async ({ caller, body, set }) => {
          const { name } = await keys.describe(caller.projectId, caller.keyId)
          const made = await cases.create(caller.projectId, body, { by: byKey(caller), name })
          set.status = made.isNew ? 201 : 200
          set.headers.location = `/v1/cases/${made.case.id}`
          return made.case
        },
        { parse: 'json', body: bodyOf(CaseRequest, requestErrors), detail: docs.createCase },
      )
      .get(
        '/export',
        ({ caller, request }) =>
          exportCases(
            cases,
            { ...caller, by: byKey(caller), buffers },
            readExportRequest(readParameters(request.url)),
          ),
        { detail: docs.exportCases },
      )
      // Elysia gives null for an id with broken percent-encoding.
      .get('/:id', ({ caller, params }) => cases.get(caller.projectId, params.id ?? ''), {
        detail: docs.getCase,
      })
      .delete(
        '/:id',
        ({ caller, params }) => cases.delete(caller.projectId, params.id ?? '', byKey(caller)),
        {
          detail: docs.deleteCase,
        },
      )
  )
}

/** /console/api/projects/:project/exports/cases: cases as a file to download, which ends with its session. */
export function consoleCaseRoutes(
  { buffers }: Http,
  sessions: Pick<OpenSessions, 'check'>,
  { cases }: Pick<CaseParts, 'cases'>,
) {
  return new Elysia({ prefix: '/console/api/projects/:project/exports' })
    .use(consoleContext())
    .get('/cases', ({ member: { projectId }, person, address, request }) => {
      const check = () => sessions.check(projectId, person.sessionId)
      const answering = { projectId, check, by: byPerson(person, address), buffers }
      return exportCases(cases, answering, readExportRequest(readParameters(request.url)))
    })
}
