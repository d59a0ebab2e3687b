import { Elysia } from 'elysia'
import type { Admission } from '../http/admission.ts'
import { parseJson, readUncompressed } from '../http/json-body.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import type { RequestContexts } from '../http/request-context.ts'
import * as docs from './docs.ts'
import type { SourceEvents } from './source-events.ts'
import type { Sources } from './sources.ts'

interface SourceRoutesOptions {
  sources: Sources
  sourceEvents: SourceEvents
  admission: Admission
  contexts: RequestContexts
}

/** /ingest/from: the webhooks of platforms. Requests are signed instead of carrying a key. */
export function sourceRoutes({ sources, sourceEvents, admission, contexts }: SourceRoutesOptions) {
  return new Elysia({ prefix: '/ingest/from' }).post(
    '/:id',
    async ({ params, request }) => {
      const source = await sources.open(params.id ?? '')
      const { bodyBytesMax } = contexts.of(request).surface
      // Read as bytes: these are what is signed, and some platforms send JSON under other media types.
      const body = await readUncompressed(request, { bytesMax: bodyBytesMax, admission })
      const answer = await sourceEvents.receive(source, { headers: request.headers, body }, parseJson)
      return new Response(JSON.stringify(answer), { headers: jsonHeaders })
    },
    { parse: 'none', detail: docs.receiveEvent },
  )
}
