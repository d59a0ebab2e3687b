import { Elysia } from 'elysia'
import type { Http } from '../http/http.ts'
import { checkMembers, parseJson, readUncompressed } from '../http/json-body.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import { limits } from '../limits.ts'
import * as docs from './docs.ts'
import type { SourceEvents } from './source-events.ts'
import type { Sources } from './sources.ts'

interface Events {
  sources: Sources
  sourceEvents: SourceEvents
}

/** /ingest/from: the webhooks of platforms. Requests are signed instead of carrying a key. */
export function sourceRoutes({ admission, contexts, limitRate }: Http, { sources, sourceEvents }: Events) {
  return new Elysia({ prefix: '/ingest/from' }).post(
    '/:id',
    async ({ params, request }) => {
      const { headers } = request
      const source = await sources.open(params.id ?? '')
      const isKnown = sourceEvents.isKnown(source, headers)
      const limit = contexts.bodyBytesMaxOf(request)
      const bytesMax = isKnown ? limit : Math.min(limits.signedBody.most, limit)
      if (isKnown) contexts.of(request).party = source.projectId
      else admission.enterUnverified(request, 'sources', source.id)
      // Read as bytes: these are what is signed, and some platforms send JSON under other media types.
      const body = await readUncompressed(request, { bytesMax, admission })
      checkMembers(body)
      if (!isKnown) sourceEvents.verify(source, { headers, body })
      admission.recognize(request)
      limitRate(request, source.id)
      const answer = await sourceEvents.receive(source, body, parseJson)
      return new Response(JSON.stringify(answer), { headers: jsonHeaders })
    },
    { parse: 'none', detail: docs.receiveEvent },
  )
}
