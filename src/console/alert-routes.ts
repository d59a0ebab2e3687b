import type { Alerts } from '../alerts/alerts.ts'
import { AlertChange, ChangesRequest, PausedAlert } from '../alerts/schemas.ts'
import { bodyOf, NoMembers } from '../validation.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'

/** /console/api/projects/:project/alerts. */
export function alertRoutes({ alerts }: { alerts: Alerts }) {
  return consoleRoutes('/console/api/projects/:project/alerts')
    .get('', async ({ member }) => ({ data: await alerts.list(member.projectId) }))
    .post('', ({ member, by, body }) => alerts.create(member.projectId, body, by), jsonBody(AlertChange))
    .post('/preview', ({ member, body }) => alerts.preview(member.projectId, body), jsonBody(AlertChange))
    .get(
      '/changes',
      ({ member, query: { alert, before } }) =>
        alerts.changes(member.projectId, {
          ...(alert && { alert }),
          ...(before && { before: Number(before) }),
        }),
      { query: bodyOf(ChangesRequest) },
    )
    .get('/destinations', async ({ member }) => ({ data: await alerts.destinations(member.projectId) }))
    .get('/:id', ({ member, params }) => alerts.get(member.projectId, params.id))
    .put(
      '/:id',
      ({ member, by, params, body }) => alerts.put(member.projectId, params.id, body, by),
      jsonBody(AlertChange),
    )
    .post(
      '/:id/pause',
      ({ member, by, params, body }) => alerts.pause(member.projectId, params.id, body.paused, by),
      jsonBody(PausedAlert),
    )
    .post(
      '/:id/test',
      ({ member, by, params }) => alerts.test(member.projectId, params.id, by),
      jsonBody(NoMembers),
    )
    .delete('/:id', ({ member, by, params }) => alerts.delete(member.projectId, params.id, by))
}
