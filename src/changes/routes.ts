import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { OpenSessions } from '../access/people/open-sessions.ts'
import { callerContext } from '../http/caller.ts'
import { consoleContext } from '../http/console-context.ts'
import type { Http } from '../http/http.ts'
import {
  readChangesQuery,
  toChangesResponse,
  toConsoleEvents,
  toEvents,
  toEventsResponse,
} from './change-response.ts'
import type { ChangeWatch } from './change-watch.ts'
import type { Changes } from './changes.ts'
import { listChanges } from './docs.ts'

const heartbeatMs = { api: 15_000, console: 10_000 }

interface Feed {
  changes: Changes
  changeWatch: Pick<ChangeWatch, 'checkRoom'>
}

/**
 * /v1/changes: a project's changes, by page, by long poll and by server-sent events.
 * @param records for the OpenAPI document
 */
export function changeRoutes(
  http: Http,
  { changes, changeWatch }: Feed,
  records: { Call: TSchema; Item: TSchema },
) {
  const { admission, buffers, keepOpen, onFailure } = http
  return new Elysia({ prefix: '/v1/changes' }).use(callerContext()).get(
    '',
    async ({ caller, request, query }) => {
      const { projectId } = caller
      const input = readChangesQuery(query, request.headers)
      if (input.waitMs > 0 || input.isStream) keepOpen(request)
      if (!input.isStream) {
        const wait = { withinMs: input.waitMs, signal: request.signal }
        const page = await (input.waitMs > 0
          ? admission.whileWaiting(() => changes.wait(projectId, input, wait))
          : changes.read(projectId, input))
        if (input.waitMs > 0) await caller.check()
        const entries = changes.entries(projectId, page, input)
        return await toChangesResponse(caller, page, entries, { ...input, buffers })
      }
      changeWatch.checkRoom(projectId)
      // The runtime would read the body of an answer to HEAD to its end, but this one never ends.
      if (request.method === 'HEAD') return toEventsResponse(null)
      const follow = (admit: (chars: number) => void, signal: AbortSignal) =>
        toEvents(changes.follow(projectId, input, { ...input, admit, everyMs: heartbeatMs.api, signal }))
      return toEventsResponse(buffers.endlessOf(caller, follow, (error) => onFailure(error, request)))
    },
    { detail: listChanges(records) },
  )
}

/**
 * /console/api/projects/:project/changes: the change feed as server-sent events for the console's pages. It begins with
 * the next change, ends with the session, which a stream may outlast, and has the ids of calls.
 */
export function consoleChangeRoutes(
  { buffers, keepOpen, onFailure }: Http,
  sessions: Pick<OpenSessions, 'check'>,
  { changes, changeWatch }: Feed,
) {
  return new Elysia({ prefix: '/console/api/projects/:project/changes' })
    .use(consoleContext())
    .get('', async ({ person, member: { projectId }, request, query }) => {
      const { headers } = request
      const input = readChangesQuery(query, new Headers([...headers, ['accept', 'text/event-stream']]))
      const isResumed = query.after !== undefined || headers.has('last-event-id')
      const after = isResumed ? input.after : await changes.newest(projectId)
      changeWatch.checkRoom(projectId)
      keepOpen(request)
      if (request.method === 'HEAD') return toEventsResponse(null)
      const reader = { projectId, check: () => sessions.check(projectId, person.sessionId) }
      const follow = (_: unknown, signal: AbortSignal) => {
        const options = { include: 'none' as const, withIds: true, everyMs: heartbeatMs.console, signal }
        return toConsoleEvents(after, changes.follow(projectId, { ...input, after }, options))
      }
      return toEventsResponse(buffers.endlessOf(reader, follow, (error) => onFailure(error, request)))
    })
}
