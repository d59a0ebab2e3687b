import { Elysia } from 'elysia'
import type { OpenSessions } from '../access/people/open-sessions.ts'
import type { ReadingNotes } from '../audit/reading.ts'
import { byKey, callerContext } from '../http/caller.ts'
import { consoleContext } from '../http/console-context.ts'
import type { Http } from '../http/http.ts'
import { readStream } from '../http/json-body.ts'
import { byPerson, type Caller } from '../identity.ts'
import { bodyOf } from '../validation.ts'
import * as docs from './docs.ts'
import { answerRecording } from './recording-response.ts'
import type { Recordings } from './recordings.ts'
import { eachReleased } from './release.ts'
import { NewLink } from './schemas.ts'

/** PUT /ingest/calls/:id/recording: the handler reads the body as it arrives. */
export function recordingUploadRoutes({ admission, contexts }: Http, recordings: Recordings) {
  return new Elysia().use(callerContext()).put(
    '/ingest/calls/:id/recording',
    async ({ caller, params, request, set }) => {
      const limits = { bytesMax: contexts.bodyBytesMaxOf(request), admission }
      const parts = checkedAtEnd(eachReleased(readStream(request, limits)), caller.check)
      const { recording, isNew } = await admission.whileArriving(request, () =>
        recordings.upload(caller.projectId, params.id ?? '', parts),
      )
      set.status = isNew ? 201 : 200
      return recording
    },
    { parse: 'none', detail: docs.uploadRecording },
  )
}

/** The sender's rights may end while a recording arrives. */
async function* checkedAtEnd(parts: AsyncIterable<Uint8Array>, check: () => Promise<unknown>) {
  yield* parts
  await check()
}

interface Keyed {
  caller: Caller
  /** Elysia gives null for an id with broken percent-encoding. */
  params: { id: string | null }
  request: Request
}

interface Played {
  recordings: Recordings
  reading: ReadingNotes
}

/** /v1/calls/:id/recording, and what links open. */
export function recordingRoutes({ contexts, limitRate, publicUrl }: Http, { recordings, reading }: Played) {
  const play = async ({ caller, params: { id }, request }: Keyed) => {
    const recording = await recordings.open(caller.projectId, id ?? '')
    void reading.listened(caller.projectId, byKey(caller), id ?? '')
    return await answerRecording(request, recording, { contexts, check: caller.check })
  }
  const playLink = async ({ params, request }: Pick<Keyed, 'params' | 'request'>) => {
    const token = params.id ?? ''
    const recording = await recordings.openLink(token, (keyId) => limitRate(request, keyId))
    const check = () => recordings.checkLink(token)
    return await answerRecording(request, recording, { contexts, check, isLink: true })
  }
  return new Elysia()
    .use(callerContext())
    .get('/v1/calls/:id/recording', play, { detail: docs.getRecording })
    .delete(
      '/v1/calls/:id/recording',
      ({ caller, params: { id } }) => recordings.delete(caller.projectId, id, byKey(caller)),
      { detail: docs.deleteRecording },
    )
    .post(
      '/v1/calls/:id/recording/links',
      async ({ caller, params: { id }, body, request, set }) => {
        const { keyId, projectId } = caller
        const { token, expiresAt } = await recordings.link(projectId, id, { ...body, keyId })
        // Whoever has the link may listen.
        void reading.listened(projectId, byKey(caller), id)
        set.status = 201
        return { url: `${publicUrl ?? new URL(request.url).origin}/recordings/${token}`, expiresAt }
      },
      { parse: 'json', body: bodyOf(NewLink), detail: docs.linkRecording },
    )
    .get('/recordings/:id', playLink, { detail: docs.playLink })
}

/** /console/api/projects/:project/calls/:id/recording: what the console plays and draws. */
export function consoleRecordingRoutes(
  { contexts }: Http,
  sessions: Pick<OpenSessions, 'check'>,
  { recordings, reading }: Played,
) {
  return new Elysia({ prefix: '/console/api/projects/:project/calls/:id/recording' })
    .use(consoleContext())
    .get('', async ({ member: { projectId }, person, address, params: { id }, request }) => {
      const recording = await recordings.open(projectId, id)
      void reading.listened(projectId, byPerson(person, address), id)
      return await answerRecording(request, recording, {
        contexts,
        check: () => sessions.check(projectId, person.sessionId),
      })
    })
    .get('/peaks', async ({ member: { projectId }, params: { id } }) => {
      const peaks = await recordings.peaks(projectId, id)
      return new Response(peaks && new Uint8Array(peaks), {
        status: peaks ? 200 : 204,
        headers: { 'Content-Type': 'application/octet-stream' },
      })
    })
    .delete('', ({ member: { projectId }, person, address, params: { id } }) =>
      recordings.delete(projectId, id, byPerson(person, address)),
    )
}
