import { NewWebhook, NoMembers, Replay } from '../webhooks/schemas.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'

/** /console/api/projects/:project/webhooks: for owners. */
export function webhookRoutes(webhooks: Webhooks) {
  return consoleRoutes('/console/api/projects/:project/webhooks')
    .get('', async ({ member }) => ({ data: await webhooks.list(member.projectId) }))
    .post(
      '',
      ({ member, person, by, body }) =>
        webhooks.create(member.projectId, { ...body, createdBy: person.name }, by),
      jsonBody(NewWebhook),
    )
    .get('/:id/tries', async ({ member, params }) => ({
      data: await webhooks.tries(member.projectId, params.id),
    }))
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
    .delete('/:id', ({ member, by, params }) => webhooks.remove(member.projectId, params.id, by))
}
