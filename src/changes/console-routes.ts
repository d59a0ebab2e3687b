import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { readChangesQuery, toConsoleEvents, toEventsResponse } from './change-response.ts'
import type { ChangeWatch } from './change-watch.ts'
import type { Changes } from './changes.ts'

const heartbeatMsDefault = 10_000

interface ConsoleChangeRoutesOptions {
  changes: Changes
  changeWatch: Pick<ChangeWatch, 'checkRoom'>
  buffers: ResponseBuffers
  /** Checks whether the session is still valid, since a stream may outlast it. */
  sessions: { check(projectId: number, sessionId: string): Promise<void> }
  /** Keeps the runtime from closing the request's idle connection. */
  keepOpen: (request: Request) => void
  onFailure: (error: unknown, request: Request) => void
  heartbeatMs?: number
}

/**
 * /console/api/projects/:project/changes: the change feed as server-sent events for the console's pages. It begins with
 * the next change, ends with the session, and has the ids of calls.
 */
export function consoleChangeRoutes(options: ConsoleChangeRoutesOptions) {
  const { changes, changeWatch, buffers, sessions, keepOpen, onFailure } = options
  const { heartbeatMs = heartbeatMsDefault } = options
  return new Elysia({ prefix: '/console/api/projects/:project/changes' })
    .use(consoleContext())
    .get('', async ({ person, member: { projectId }, request, query }) => {
      const { headers } = request
      const asked = readChangesQuery(query, new Headers([...headers, ['accept', 'text/event-stream']]))
      const isResumed = query.after !== undefined || headers.has('last-event-id')
      const after = isResumed ? asked.after : await changes.newest(projectId)
      changeWatch.checkRoom(projectId)
      keepOpen(request)
      if (request.method === 'HEAD') return toEventsResponse(null)
      const reader = { projectId, check: () => sessions.check(projectId, person.sessionId) }
      const follow = (_: unknown, signal: AbortSignal) => {
        const options = { include: 'none' as const, withIds: true, everyMs: heartbeatMs, signal }
        return toConsoleEvents(after, changes.follow(projectId, { ...asked, after }, options))
      }
      return toEventsResponse(buffers.endlessOf(reader, follow, (error) => onFailure(error, request)))
    })
}
