import type { Members } from '../access/people/members.ts'
import type { ReadingNotes } from '../audit/reading.ts'
import type { Calls } from '../calls/calls.ts'
import type { JsonBytes } from '../calls/document.ts'
import type { Comparing } from '../calls/figures/comparing/comparing.ts'
import type { Figures } from '../calls/figures/figures.ts'
import type { Callers } from '../calls/keeping/callers.ts'
import type { CallNumbers } from '../calls/keeping/shown-numbers.ts'
import type { CallSets } from '../calls/review/call-sets.ts'
import type { Reviews } from '../calls/review/reviews.ts'
import { FoundCalls, NewSet, ReviewChange, ReviewsChange, UndoneChange } from '../calls/review/schemas.ts'
import type { Call, CallDetails } from '../calls/schemas.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import { readParameters } from '../http/parameters.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { ErasureRequests } from '../privacy/erasure-requests.ts'
import type { FetchQueue } from '../recordings/fetching/fetch-queue.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import { ArrangedViews, CallsToDelete, NewName, NewView, NumberToFind } from './schemas.ts'
import type { Views } from './views.ts'

/** What the console knows of a call: its details, and its phone numbers as people read them. */
export interface ShownDetails extends CallDetails {
  numbers: CallNumbers
}

export interface CallParts {
  calls: Calls
  callers: Callers
  reviews: Reviews
  callSets: CallSets
  erasureRequests: ErasureRequests
  fetchQueue: FetchQueue
  figures: Figures
  comparing: Pick<Comparing, 'read'>
  knowledge: Knowledge
  buffers: ResponseBuffers
  reading: ReadingNotes
}

/** /console/api/projects/:project/calls, /metrics, /compare and /overview. */
export function callRoutes({
  calls,
  callers,
  reviews,
  fetchQueue,
  figures,
  comparing,
  knowledge,
  buffers,
  reading,
}: CallParts) {
  const detailsOf = async (projectId: number, id: string) => {
    const { document } = await buffers.bodyOf(projectId, (admit) => calls.shownDetails(projectId, id, admit))
    return answerOf<ShownDetails>(document)
  }
  return (
    consoleRoutes('/console/api/projects/:project')
      .get('/calls', ({ member, request }) => calls.rows(member.projectId, readParameters(request.url)))
      .post(
        '/callers',
        ({ member, body }) => callers.find(member.projectId, body.number),
        jsonBody(NumberToFind),
      )
      .get('/callers/:caller', ({ member, params }) => callers.get(member.projectId, params.caller))
      .get('/callers/:caller/holds', async ({ member, params }) => ({
        data: await callers.holds(member.projectId, params.caller),
      }))
      // Not below /calls, where a call may have any name.
      .get('/call-facets', ({ member }) => calls.facets(member.projectId))
      .get('/call-facets/:name', ({ member, params, request }) =>
        calls.countValues(member.projectId, params.name, readParameters(request.url)),
      )
      .get('/calls/:id', async ({ member, by, params }) => {
        const { document } = await buffers.bodyOf(member.projectId, (admit) =>
          calls.get(member.projectId, params.id, admit),
        )
        void reading.opened(member.projectId, by, params.id)
        return answerOf<Call>(document)
      })
      .get('/calls/:id/sound', ({ member, params }) => calls.sound(member.projectId, params.id))
      .get('/calls/:id/details', ({ member, params }) => detailsOf(member.projectId, params.id))
      .get('/calls/:id/neighbours', ({ member, params, request }) =>
        calls.neighbours(member.projectId, params.id, readParameters(request.url)),
      )
      .delete(
        '/calls',
        ({ member, by, body }) => calls.deleteAll(member.projectId, body.ids, by),
        jsonBody(CallsToDelete),
      )
      .patch(
        '/calls/:id/review',
        async ({ member, person, by, params, body }) => {
          await reviews.change(member.projectId, params.id, body, { person, by })
          return await detailsOf(member.projectId, params.id)
        },
        jsonBody(ReviewChange),
      )
      .post(
        '/calls/review',
        ({ member, person, by, body }) =>
          reviews.changeMany(member.projectId, body.ids, body.change, { person, by }),
        jsonBody(ReviewsChange),
      )
      .post(
        '/calls/review/undo',
        ({ member, by, body }) => reviews.undo(member.projectId, body, by),
        jsonBody(UndoneChange),
      )
      .delete('/calls/:id', ({ member, by, params }) => calls.delete(member.projectId, params.id, by))
      .post('/calls/:id/recording/fetch', ({ member, params }) =>
        fetchQueue.tryAgain(member.projectId, params.id),
      )
      .get('/metrics', ({ member, request }) =>
        figures.readBox(member.projectId, readParameters(request.url)),
      )
      .get('/compare', ({ member, request }) => comparing.read(member.projectId, readParameters(request.url)))
      .get('/overview/knowledge', ({ member }) => knowledge.figures(member.projectId))
  )
}

/** Sends the stored document byte for byte; the type is what the client will parse it as. */
function answerOf<Answer>(document: string | JsonBytes | ReadableStream): Answer {
  return new Response(document, { headers: jsonHeaders }) as unknown as Answer
}

/** /console/api/projects/:project/call-sets: queues of reviews, and calls that a list finds. */
export function callSetRoutes({
  callSets,
  erasureRequests,
  members,
}: Pick<CallParts, 'callSets' | 'erasureRequests'> & { members: Pick<Members, 'reviewers'> }) {
  return consoleRoutes('/console/api/projects/:project/call-sets')
    .get('', async ({ member, person }) => ({
      data: await callSets.queues(member.projectId, person.personId),
    }))
    .post(
      '',
      ({ member, person, body: { query, ...newSet } }) =>
        callSets.create(member.projectId, person.personId, {
          ...newSet,
          ...(query === undefined ? {} : { query: readParameters(query) }),
        }),
      jsonBody(NewSet),
    )
    .get('/reviewers', ({ member }) => members.reviewers(member.projectId))
    .delete('/:id', ({ member, person, params }) =>
      callSets.delete(member.projectId, person.personId, params.id),
    )
    .delete(
      '',
      ({ member, by, body: { query, dryRun } }) =>
        erasureRequests.request(member.projectId, { query: readParameters(query), dryRun }, by),
      jsonBody(FoundCalls),
    )
}

/** /console/api/projects/:project/views: saved filters of the list of calls, and kept charts. */
export function viewRoutes(views: Views) {
  return consoleRoutes('/console/api/projects/:project/views')
    .get('', ({ member, person }) => views.list(member, person.personId))
    .post('', ({ member, person, body }) => views.create(member, person.personId, body), jsonBody(NewView))
    .put(
      '/order',
      ({ member, person, body }) => views.arrange(member, person.personId, body),
      jsonBody(ArrangedViews),
    )
    .patch(
      '/:id',
      ({ member, person, params, body }) => views.rename(member, person.personId, params.id, body.name),
      jsonBody(NewName),
    )
    .delete('/:id', ({ member, person, params }) => views.delete(member, person.personId, params.id))
}
