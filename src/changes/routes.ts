import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Admission } from '../http/admission.ts'
import { callerContext } from '../http/caller.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { readChangesQuery, toChangesResponse, toEvents, toEventsResponse } from './change-response.ts'
import type { ChangeWatch } from './change-watch.ts'
import type { Changes } from './changes.ts'
import { listChanges } from './docs.ts'

const heartbeatMsDefault = 15_000

interface ChangeRoutesOptions {
  changes: Changes
  changeWatch: Pick<ChangeWatch, 'checkRoom'>
  admission: Admission
  buffers: ResponseBuffers
  /** Keeps the runtime from closing the request's idle connection. */
  keepOpen: (request: Request) => void
  onFailure: (error: unknown, request: Request) => void
  /** For the OpenAPI document. */
  records: { Call: TSchema; Item: TSchema }
  heartbeatMs?: number
}

/** /v1/changes: a project's changes, by page, by long poll and by server-sent events. */
export function changeRoutes({
  changes,
  changeWatch,
  admission,
  buffers,
  keepOpen,
  onFailure,
  records,
  heartbeatMs = heartbeatMsDefault,
}: ChangeRoutesOptions) {
  return new Elysia({ prefix: '/v1/changes' }).use(callerContext()).get(
    '',
    async ({ caller, request, query }) => {
      const { projectId } = caller
      const asked = readChangesQuery(query, request.headers)
      if (asked.waitMs > 0 || asked.isStream) keepOpen(request)
      if (!asked.isStream) {
        const wait = { withinMs: asked.waitMs, signal: request.signal }
        const page = await (asked.waitMs > 0
          ? admission.whileWaiting(() => changes.wait(projectId, asked, wait))
          : changes.read(projectId, asked))
        if (asked.waitMs > 0) await caller.check()
        const entries = changes.entries(projectId, page, asked)
        return await toChangesResponse(caller, page, entries, { ...asked, buffers })
      }
      changeWatch.checkRoom(projectId)
      // The runtime would read the body of an answer to HEAD to its end, but this one never ends.
      if (request.method === 'HEAD') return toEventsResponse(null)
      const follow = (admit: (chars: number) => void, signal: AbortSignal) =>
        toEvents(changes.follow(projectId, asked, { ...asked, admit, everyMs: heartbeatMs, signal }))
      return toEventsResponse(buffers.endlessOf(caller, follow, (error) => onFailure(error, request)))
    },
    { detail: listChanges(records) },
  )
}
