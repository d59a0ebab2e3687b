import type { SourceEvents } from '../sources/source-events.ts'
import type { SourceFailures } from '../sources/source-failures.ts'
import type { Sources } from '../sources/sources.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import { NewSecret, NewSource } from './schemas.ts'

export interface SourceRoutesOptions {
  sources: Sources
  sourceEvents: SourceEvents
  sourceFailures: SourceFailures
}

/** /console/api/projects/:project/sources: for owners. */
export function consoleSourceRoutes({ sources, sourceEvents, sourceFailures }: SourceRoutesOptions) {
  return consoleRoutes('/console/api/projects/:project/sources')
    .get('', async ({ member }) => ({ data: await sources.list(member.projectId) }))
    .post(
      '',
      ({ member, person, by, body }) =>
        sources.create(member.projectId, { ...body, createdBy: person.name }, by),
      jsonBody(NewSource),
    )
    .get('/:id', ({ member, params }) => sources.get(member.projectId, params.id))
    .delete('/:id', ({ member, by, params }) => sources.delete(member.projectId, params.id, by))
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
