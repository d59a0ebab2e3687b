import { Elysia } from 'elysia'
import { byKey, callerContext } from '../http/caller.ts'
import type { Http } from '../http/http.ts'
import { bodyOf } from '../validation.ts'
import { setUpOf } from './catalog.ts'
import * as docs from './docs.ts'
import type { SourceImports } from './history/imports.ts'
import { ImportRequest } from './history/schemas.ts'
import { ChangedSource, NewSecret, NewSource } from './schemas.ts'
import type { SourceFailures } from './source-failures.ts'
import type { MadeSource, Sources } from './sources.ts'

interface ManageParts {
  sources: Sources
  sourceFailures: SourceFailures
  sourceImports: SourceImports
}

/** /v1/sources: the platforms that send calls, for keys of the scope `manage`. */
export function manageSourceRoutes({ publicUrl }: Http, parts: ManageParts) {
  const { sources, sourceFailures, sourceImports } = parts
  const shownTo = ({ url }: Request) => {
    const origin = publicUrl ?? new URL(url).origin
    return (source: MadeSource) => shown(source, origin)
  }
  return (
    new Elysia({ prefix: '/v1/sources' })
      .use(callerContext())
      .get(
        '',
        async ({ caller, request }) => ({
          data: (await sources.list(caller.projectId)).map(shownTo(request)),
        }),
        { detail: docs.listSources },
      )
      .post(
        '',
        async ({ caller, body, request, set }) => {
          const made = await sources.create(caller.projectId, body, byKey(caller))
          set.status = 201
          set.headers.location = `/v1/sources/${made.id}`
          return shownTo(request)(made)
        },
        { parse: 'json', body: bodyOf(NewSource), detail: docs.createSource },
      )
      // Elysia gives null for an id with broken percent-encoding.
      .get(
        '/:id',
        async ({ caller, params, request }) =>
          shownTo(request)(await sources.get(caller.projectId, params.id ?? '')),
        { detail: docs.getSource },
      )
      .patch(
        '/:id',
        async ({ caller, params, body, request }) =>
          shownTo(request)(await sources.change(caller.projectId, params.id ?? '', body, byKey(caller))),
        { parse: 'json', body: bodyOf(ChangedSource), detail: docs.changeSource },
      )
      .delete(
        '/:id',
        ({ caller, params }) => sources.delete(caller.projectId, params.id ?? '', byKey(caller)),
        { detail: docs.deleteSource },
      )
      .post(
        '/:id/secret',
        async ({ caller, params, body }) => {
          const { id, secret } = await sources.rotate(
            caller.projectId,
            params.id ?? '',
            body.secret,
            byKey(caller),
          )
          return secret === undefined ? { id } : { id, secret }
        },
        { parse: 'json', body: bodyOf(NewSecret), detail: docs.rotateSource },
      )
      .get(
        '/:id/failures',
        async ({ caller, params }) => ({
          data: await sourceFailures.list(caller.projectId, params.id ?? ''),
        }),
        { detail: docs.listSourceFailures },
      )
      .post(
        '/:id/import',
        async ({ caller: { projectId }, caller, params, body, set }) => {
          if (body.dryRun) return await sourceImports.preview(projectId, params.id ?? '', body)
          set.status = 202
          return await sourceImports.start(projectId, params.id ?? '', body, byKey(caller))
        },
        { parse: 'json', body: bodyOf(ImportRequest), detail: docs.importHistory },
      )
      .get('/:id/import', ({ caller, params }) => sourceImports.get(caller.projectId, params.id ?? ''), {
        detail: docs.getImport,
      })
      .delete(
        '/:id/import',
        ({ caller, params }) => sourceImports.stop(caller.projectId, params.id ?? '', byKey(caller)),
        { detail: docs.stopImport },
      )
  )
}

function shown(source: MadeSource, origin: string) {
  const { hasApiKey, createdBy, options, ...record } = source
  return {
    ...record,
    url: setUpOf(source.platform).variable ? origin : `${origin}/ingest/from/${source.id}`,
    options: { ...options, ...(hasApiKey && { apiKey: true }) },
  }
}
