import { Elysia } from 'elysia'
import type { KeyChanges } from '../access/keys/key-changes.ts'
import type { Keys } from '../access/keys/keys.ts'
import type { AuditFilter, AuditTrail } from '../audit/audit-trail.ts'
import type { ReadingNotes } from '../audit/reading.ts'
import type { Holds } from '../calls/keeping/holds.ts'
import type { Demo } from '../demo/demo.ts'
import { type FieldError, invalidRequest } from '../errors.ts'
import { streamOfParts } from '../http/response-buffers.ts'
import type { ErasureRequests } from '../privacy/erasure-requests.ts'
import type { ErasureReceipts } from '../privacy/receipts.ts'
import { ErasureRequest } from '../privacy/schemas.ts'
import type { Projects } from '../projects/projects.ts'
import type { Recordings } from '../recordings/recordings.ts'
import type { SourceImports } from '../sources/history/imports.ts'
import { ImportRequest } from '../sources/history/schemas.ts'
import { ChangedSource, NewSecret, NewSource } from '../sources/schemas.ts'
import type { SourceEvents } from '../sources/source-events.ts'
import type { SourceFailures } from '../sources/source-failures.ts'
import type { Sources } from '../sources/sources.ts'
import { readInstant } from '../text/instant.ts'
import { bodyOf, NoMembers } from '../validation.ts'
import type { Deliveries } from '../webhooks/deliveries.ts'
import { AttemptsRequest, NewWebhook, Replay, TestEvent } from '../webhooks/schemas.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { consoleRoutes, jsonBody, limitOf } from './console-routes.ts'
import {
  asOwner,
  changeSettings,
  countDue,
  createOwnProject,
  mayOwnOneMore,
  type PrivacyParts,
} from './projects.ts'
import {
  AddressToCheck,
  AuditRequest,
  ChangedSettings,
  DeleteProject,
  DueRequest,
  EditedKey,
  NewHold,
  NewKey,
  NewName,
  RotatedKey,
} from './schemas.ts'

type HashOfCall = (projectId: number, kind: 'call', id: string) => string

export interface SettingsParts extends PrivacyParts {
  projects: Projects
  demo: Demo
  keys: Keys
  keyChanges: KeyChanges
  webhooks: Webhooks
  deliveries: Deliveries
  reading: ReadingNotes
  sources: Sources
  sourceEvents: SourceEvents
  sourceFailures: SourceFailures
  sourceImports: SourceImports
  erasureRequests: ErasureRequests
  erasureReceipts: ErasureReceipts
  holds: Holds
  recordings: Recordings
  audit: AuditTrail
  recordHash: HashOfCall
}

/** What owners manage in the settings of a project. */
export function settingsRoutes(parts: SettingsParts) {
  return new Elysia()
    .use(projectRoutes(parts))
    .use(demoRoutes(parts))
    .use(keyRoutes(parts))
    .use(sourceRoutes(parts))
    .use(webhookRoutes(parts))
    .use(erasureRoutes(parts))
    .use(auditRoutes(parts))
}

/** /console/api/projects: create, rename and delete; /settings of a project. */
function projectRoutes({ projects, ...parts }: SettingsParts) {
  return consoleRoutes('/console/api/projects')
    .post(
      '',
      ({ person, by, body }) => createOwnProject(projects, person.personId, body.name, by),
      jsonBody(NewName),
    )
    .patch(
      '/:project',
      async ({ member, by, body }) =>
        asOwner(
          await projects.rename(member.projectId, body.name, by),
          await parts.settingsOf(member.projectId),
        ),
      jsonBody(NewName),
    )
    .delete(
      '/:project',
      ({ member, by, body }) => projects.delete(member.projectId, { confirm: body.confirm, by }),
      jsonBody(DeleteProject),
    )
    .get('/:project/settings', ({ member }) => parts.settingsOf(member.projectId))
    .get('/:project/settings/recordings', ({ member }) => parts.recordings.usage(member.projectId))
    .get('/:project/settings/due', ({ member, query }) => countDue(parts, member.projectId, query.days), {
      query: bodyOf(DueRequest),
    })
    .put(
      '/:project/settings',
      ({ member, by, body }) => changeSettings(parts, member.projectId, body, by),
      jsonBody(ChangedSettings),
    )
}

/** /console/api/demo: the project of examples, for people who may create one. */
function demoRoutes({ demo }: SettingsParts) {
  return consoleRoutes('/console/api').post(
    '/demo',
    async ({ person: { personId: ownerId }, by }) => {
      const { project } = await demo.make({ ownerId, by, requirements: mayOwnOneMore(ownerId) })
      return { id: project.id }
    },
    jsonBody(NoMembers),
  )
}

/** /console/api/projects/:project/keys. */
function keyRoutes({ keys, keyChanges }: SettingsParts) {
  return consoleRoutes('/console/api/projects/:project/keys')
    .get('', async ({ member }) => ({ data: await keys.list(member.projectId) }))
    .post(
      '',
      ({ member, person, by, body }) => {
        const key = { ...body, expiresAt: readTime(body.expiresAt), createdBy: person.name }
        return keys.create(member.projectId, key, by)
      },
      jsonBody(NewKey),
    )
    .post('/check-address', ({ body }) => keys.checkAddress(body), jsonBody(AddressToCheck))
    .patch(
      '/:id',
      ({ member, by, params, body: { expiresAt, ...edit } }) =>
        keyChanges.edit(
          member.projectId,
          params.id,
          { ...edit, expiresAt: expiresAt === undefined ? undefined : readTime(expiresAt) },
          by,
        ),
      jsonBody(EditedKey),
    )
    .post(
      '/:id/rotate',
      ({ member, person, by, params, body }) =>
        keyChanges.rotate(member.projectId, params.id, { ...body, createdBy: person.name }, by),
      jsonBody(RotatedKey),
    )
    .delete('/:id', ({ member, by, params }) => keys.revoke(member.projectId, params.id, by))
}

/** Milliseconds since 1970. @throws invalid_request */
function readTime(text: string | null): number | null {
  if (text === null) return null
  const time = readInstant(text)
  if (time !== null) return time
  const message = 'must be an ISO 8601 time with its zone, such as 2027-01-31T09:30:00Z, or null'
  throw invalidRequest([{ field: 'expiresAt', message }])
}

/** /console/api/projects/:project/sources. */
function sourceRoutes({ sources, sourceEvents, sourceFailures, sourceImports }: SettingsParts) {
  return consoleRoutes('/console/api/projects/:project/sources')
    .get('', async ({ member }) => ({ data: await sources.list(member.projectId) }))
    .post(
      '',
      ({ member, person, by, body }) =>
        sources.create(member.projectId, { ...body, createdBy: person.name }, by),
      jsonBody(NewSource),
    )
    .get('/:id', ({ member, params }) => sources.get(member.projectId, params.id))
    .patch(
      '/:id',
      ({ member, by, params, body }) => sources.change(member.projectId, params.id, body, by),
      jsonBody(ChangedSource),
    )
    .delete('/:id', ({ member, by, params }) => sources.delete(member.projectId, params.id, by))
    .get(
      '/:id/import',
      async ({ member, params }) =>
        (await sourceImports.find(member.projectId, params.id)) ?? { state: null },
    )
    .post(
      '/:id/import',
      ({ member, by, params, body }) =>
        body.dryRun
          ? sourceImports.preview(member.projectId, params.id, body)
          : sourceImports.start(member.projectId, params.id, body, by),
      jsonBody(ImportRequest),
    )
    .delete('/:id/import', ({ member, by, params }) => sourceImports.stop(member.projectId, params.id, by))
    .post(
      '/:id/rotate',
      ({ member, by, params, body }) => sources.rotate(member.projectId, params.id, body.secret, by),
      jsonBody(NewSecret),
    )
    .get('/:id/failures', async ({ member, params }) => ({
      data: await sourceFailures.list(member.projectId, params.id),
    }))
    .post('/:id/read-again', ({ member, params }) => sourceEvents.readAgain(member.projectId, params.id))
}

/** /console/api/projects/:project/webhooks. */
function webhookRoutes({ webhooks, deliveries, reading }: SettingsParts) {
  return consoleRoutes('/console/api/projects/:project/webhooks')
    .get('', async ({ member }) => ({ data: await webhooks.list(member.projectId) }))
    .post(
      '',
      ({ member, person, by, body }) =>
        webhooks.create(member.projectId, { ...body, createdBy: person.name }, by),
      jsonBody(NewWebhook),
    )
    .get(
      '/:id/attempts',
      async ({ member, params, query }) => ({
        data: await deliveries.list(member.projectId, params.id, { isFailed: query.failed !== undefined }),
      }),
      { query: bodyOf(AttemptsRequest) },
    )
    .get('/:id/messages/:message', async ({ member, by, params }) => {
      const message = await deliveries.get(member.projectId, params.id, params.message)
      // Its body has the call's words.
      if (message.callId !== null) void reading.opened(member.projectId, by, message.callId)
      return message
    })
    .post(
      '/:id/messages/:message/resend',
      ({ member, by, params }) => deliveries.resend(member.projectId, params.id, params.message, by),
      jsonBody(NoMembers),
    )
    .post(
      '/:id/test',
      ({ member, by, params, body }) => deliveries.test(member.projectId, params.id, body.event, by),
      jsonBody(TestEvent),
    )
    .post(
      '/:id/rotate',
      ({ member, by, params }) => webhooks.rotate(member.projectId, params.id, by),
      jsonBody(NoMembers),
    )
    .post(
      '/:id/enable',
      ({ member, by, params }) => webhooks.enable(member.projectId, params.id, by),
      jsonBody(NoMembers),
    )
    .post(
      '/:id/replay',
      ({ member, by, params, body }) => webhooks.replay(member.projectId, params.id, body.after, by),
      jsonBody(Replay),
    )
    .delete('/:id', ({ member, by, params }) => webhooks.delete(member.projectId, params.id, by))
}

/** /console/api/projects/:project/erasures and /holds; the holds of one call are for members. */
function erasureRoutes({ erasureRequests, erasureReceipts, holds }: SettingsParts) {
  return consoleRoutes('/console/api/projects/:project')
    .post(
      '/erasures',
      ({ member, by, body }) => erasureRequests.request(member.projectId, body, by),
      jsonBody(ErasureRequest),
    )
    .get('/erasures', async ({ member }) => ({ data: await erasureReceipts.list(member.projectId) }))
    .get('/erasures/:id', ({ member, params }) => erasureReceipts.get(member.projectId, params.id))
    .get('/holds', async ({ member }) => ({ data: await holds.list(member.projectId) }))
    .post(
      '/holds',
      ({ member, person, by, body }) => holds.set(member.projectId, { ...body, createdBy: person.name }, by),
      jsonBody(NewHold),
    )
    .delete('/holds/:id', ({ member, by, params }) => holds.lift(member.projectId, params.id, by))
    .get('/calls/:id/holds', async ({ member, params }) => ({
      data: await holds.ofCall(member.projectId, params.id),
    }))
}

const csvHeaders = {
  'Content-Type': 'text/csv; charset=utf-8',
  'Content-Disposition': 'attachment; filename="audit-trail.csv"',
  'Cache-Control': 'no-store',
}

/** /console/api/projects/:project/audit: the audit trail. */
function auditRoutes({ audit, recordHash }: SettingsParts) {
  return consoleRoutes('/console/api/projects/:project/audit')
    .get(
      '',
      ({ member: { projectId }, query }) =>
        audit.listRuns(
          projectId,
          { ...query, limit: limitOf(query.limit) },
          filterOf(projectId, query, recordHash),
        ),
      { query: bodyOf(AuditRequest) },
    )
    .get(
      '/csv',
      ({ member: { projectId }, query }) =>
        new Response(toStream(audit.csv(projectId, filterOf(projectId, query, recordHash))), {
          headers: csvHeaders,
        }),
      { query: bodyOf(AuditRequest) },
    )
}

function toStream(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const next = async () => {
    const { done, value } = await parts.next()
    return done ? null : Buffer.from(value)
  }
  return streamOfParts(next, async () => {
    await parts.return(undefined)
  })
}

/** The filter that a query string asks for. @throws invalid_request naming each time that cannot be read */
function filterOf(
  projectId: number,
  { who, action, from, to, call }: typeof AuditRequest.static,
  recordHash: HashOfCall,
): AuditFilter {
  const errors: FieldError[] = []
  const timeOf = (field: string, text: string | undefined) => {
    if (!text) return undefined
    const time = Date.parse(text)
    if (Number.isNaN(time)) errors.push({ field, message: 'must be an ISO 8601 time' })
    return time
  }
  const times = { from: timeOf('from', from), to: timeOf('to', to) }
  if (errors.length > 0) throw invalidRequest(errors)
  const target = call ? recordHash(projectId, 'call', call) : undefined
  return { ...times, who: who || undefined, action: action || undefined, target }
}
