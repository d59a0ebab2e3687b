import { Elysia } from 'elysia'
import type { Keys } from '../access/keys/keys.ts'
import type { OpenSessions } from '../access/people/open-sessions.ts'
import type { ReadingNotes } from '../audit/reading.ts'
import { byKey, callerContext } from '../http/caller.ts'
import { hasAnswer, notModified, type Tags, taggedHeaders } from '../http/conditional.ts'
import { consoleContext } from '../http/console-context.ts'
import type { Http } from '../http/http.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import { readParameters } from '../http/parameters.ts'
import { prefers } from '../http/preferences.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { byPerson } from '../identity.ts'
import { bodyOf } from '../validation.ts'
import type { Calls } from './calls.ts'
import * as docs from './docs.ts'
import type { Admit, JsonBytes } from './document.ts'
import { knownNames } from './reading/list-request.ts'
import { exportCalls, type FileType, listCalls } from './reading/page-response.ts'
import type { Reviews } from './review/reviews.ts'
import { ReviewUpdate } from './review/schemas.ts'
import { CallChange } from './schemas.ts'
import { answerLines } from './writing/lines-response.ts'
import { changeErrors } from './writing/merge.ts'
import type { RequestIngest } from './writing/request-ingest.ts'

/** The answers of reading one call. */
export class CallAnswers {
  readonly #calls: Calls
  readonly #tags: Tags
  readonly #buffers: ResponseBuffers

  constructor(calls: Calls, tags: Tags, buffers: ResponseBuffers) {
    this.#calls = calls
    this.#tags = tags
    this.#buffers = buffers
  }

  /** GET /v1/calls/:id @throws not_found */
  call(request: Request, projectId: number, id: string): Promise<Response> {
    return this.#answer(request, projectId, id, (admit) => this.#calls.get(projectId, id, admit))
  }

  /** GET /v1/calls/:id/details @throws not_found */
  details(request: Request, projectId: number, id: string): Promise<Response> {
    return this.#answer(request, projectId, id, (admit) => this.#calls.details(projectId, id, admit))
  }

  async #answer(request: Request, projectId: number, id: string, read: Reads): Promise<Response> {
    if (request.headers.has('if-none-match')) {
      const tag = this.#tags.of(projectId, await this.#calls.changeSeq(projectId, id))
      if (hasAnswer(request, tag)) return notModified(request, tag)
    }
    const { document, changeSeq } = await this.#buffers.bodyOf(projectId, read)
    const response = new Response(document, { headers: taggedHeaders })
    response.headers.set('ETag', this.#tags.of(projectId, changeSeq))
    if (request.headers.has('accept-encoding')) tellLength(response, document)
    return response
  }
}

interface ReadCalls {
  calls: Calls
  callAnswers: CallAnswers
  changeTags: Tags
  reading: ReadingNotes
}

interface ReviewedCalls {
  reviews: Reviews
  /** Tells the name of a key, which stands below a review. */
  keys: Pick<Keys, 'describe'>
}

/** /v1/calls: the calls of a project. */
export function callRoutes(
  { buffers }: Http,
  { calls, callAnswers, changeTags: tags, reading, reviews, keys }: ReadCalls & ReviewedCalls,
) {
  return new Elysia({ prefix: '/v1/calls' })
    .use(callerContext())
    .get(
      '',
      async ({ caller, request }) => {
        const query = readParameters(request.url)
        const answer = await listCalls(calls, caller.projectId, query, {
          request,
          tags,
          buffers,
          check: caller.check,
        })
        const form = { type: answer.headers.get('content-type'), parameters: knownNames(query) }
        void reading.exported(caller.projectId, byKey(caller), form)
        return answer
      },
      { detail: docs.listCalls },
    )
    .get(
      '/:id',
      ({ caller: { projectId }, params: { id }, request }) => callAnswers.call(request, projectId, id),
      { detail: docs.getCall },
    )
    .get(
      '/:id/details',
      ({ caller: { projectId }, params: { id }, request }) => callAnswers.details(request, projectId, id),
      { detail: docs.getCallDetails },
    )
    .put(
      '/:id/review',
      async ({ caller, params, body }) => {
        const person = await keys.describe(caller.projectId, caller.keyId)
        const reviewer = { person, by: byKey(caller) }
        return Response.json(await reviews.change(caller.projectId, params.id, body, reviewer))
      },
      { parse: 'json', body: bodyOf(ReviewUpdate), detail: docs.reviewCall },
    )
    .get('/:id/sound', ({ caller, params }) => calls.sound(caller.projectId, params.id), {
      detail: docs.getSound,
    })
    .delete('/:id', ({ caller, params }) => calls.delete(caller.projectId, params.id, byKey(caller)), {
      detail: docs.deleteCall,
    })
}

type Reads = (admit: Admit) => ReturnType<Calls['get']>

/** /ingest/calls/:id: creates and changes calls. */
export function ingestRoutes(ingest: RequestIngest, buffers: ResponseBuffers) {
  return new Elysia({ prefix: '/ingest/calls' }).use(callerContext()).put(
    '/:id',
    async ({ caller, params, body, request }) => {
      const isMinimal = prefers(request, 'return=minimal')
      const { document, isNew } = await buffers.bodyOf(caller.projectId, (admit) =>
        // Elysia gives null for an id with broken percent-encoding.
        ingest.put(caller.projectId, params.id ?? '', body, { admit, isMinimal }),
      )
      const answer = isMinimal ? minimalAnswer(isNew) : toCallResponse(document, isNew ? 201 : 200)
      if (isNew) answer.headers.set('Location', `/v1/calls/${params.id}`)
      return answer
    },
    { parse: 'json', body: bodyOf(CallChange, changeErrors), detail: docs.ingestCall },
  )
}

/** POST /ingest/calls: many calls, one per line. The handler reads the body. */
export function ingestLinesRoutes({ admission, contexts, onUnexpected }: Http, ingest: RequestIngest) {
  return new Elysia().use(callerContext()).post(
    '/ingest/calls',
    ({ caller, request }) => {
      const { requestId } = contexts.of(request)
      const report = (error: unknown) => onUnexpected(error, requestId)
      const limits = { bytesMax: contexts.bodyBytesMaxOf(request), admission, check: caller.check }
      return answerLines(request, caller.projectId, { ...limits, ingest, onUnexpected: report })
    },
    { parse: 'none', detail: docs.ingestLines },
  )
}

function minimalAnswer(isNew: boolean): Response {
  return new Response(null, {
    status: isNew ? 201 : 204,
    headers: { 'Preference-Applied': 'return=minimal' },
  })
}

/** A stored document is the answer, byte for byte. */
function toCallResponse(document: string | JsonBytes | ReadableStream, status: number): Response {
  const response = new Response(document, { status, headers: jsonHeaders })
  tellLength(response, document)
  return response
}

/** Tells the length, so that short answers need not be read to decide whether to compress them. */
function tellLength({ headers }: Response, document: string | JsonBytes | ReadableStream): void {
  if (document instanceof ReadableStream) return
  headers.set('Content-Length', String(Buffer.byteLength(document)))
}

const files: Record<string, FileType> = {
  'calls.csv': 'text/csv',
  'calls.jsonl': 'application/x-ndjson',
}

/**
 * /console/api/projects/:project/exports: the console's whole list as a file to download. A download may outlast its
 * session, and ends with it.
 */
export function consoleExportRoutes(
  { buffers }: Http,
  sessions: Pick<OpenSessions, 'check'>,
  { calls, reading }: Pick<ReadCalls, 'calls' | 'reading'>,
) {
  const routes = new Elysia({ prefix: '/console/api/projects/:project/exports' }).use(consoleContext())
  for (const [name, type] of Object.entries(files)) {
    routes.get(`/${name}`, async ({ member: { projectId }, person, address, request }) => {
      const query = readParameters(request.url)
      const search = await calls.readBox(projectId, query)
      const check = () => sessions.check(projectId, person.sessionId)
      const answer = await exportCalls(calls, projectId, search, { type, isDetailed: true, buffers, check })
      answer.headers.set('Content-Disposition', `attachment; filename="${name}"`)
      void reading.exported(projectId, byPerson(person, address), { type, parameters: knownNames(query) })
      return answer
    })
  }
  return routes
}
