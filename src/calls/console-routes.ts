import { Elysia } from 'elysia'
import type { ReadingNotes } from '../audit/reading.ts'
import { consoleContext } from '../http/console-context.ts'
import { readParameters } from '../http/parameters.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { byPerson } from '../identity.ts'
import type { Calls } from './calls.ts'
import { knownNames } from './reading/list-request.ts'
import { exportCalls, type FileType } from './reading/page-response.ts'

const files: Record<string, FileType> = {
  'calls.csv': 'text/csv',
  'calls.jsonl': 'application/x-ndjson',
}

interface ConsoleExportOptions {
  calls: Calls
  buffers: ResponseBuffers
  reading: ReadingNotes
  /** Checks whether the session is still valid, since a download may outlast it. */
  sessions: { check(projectId: number, sessionId: string): Promise<void> }
}

/** /console/api/projects/:project/exports: the console's whole list as a file to download. */
export function consoleExportRoutes({ calls, buffers, reading, sessions }: ConsoleExportOptions) {
  const routes = new Elysia({ prefix: '/console/api/projects/:project/exports' }).use(consoleContext())
  for (const [name, type] of Object.entries(files)) {
    routes.get(`/${name}`, async ({ member: { projectId }, person, address, request }) => {
      const query = readParameters(request.url)
      const search = await calls.readBox(projectId, query)
      const check = () => sessions.check(projectId, person.sessionId)
      const answer = await exportCalls(calls, projectId, search, { type, isDetailed: false, buffers, check })
      answer.headers.set('Content-Disposition', `attachment; filename="${name}"`)
      void reading.exported(projectId, byPerson(person, address), { type, parameters: knownNames(query) })
      return answer
    })
  }
  return routes
}
