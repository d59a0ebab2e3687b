import { Elysia } from 'elysia'
import { byKey, callerContext } from '../http/caller.ts'
import { bodyOf, NoMembers } from '../validation.ts'
import type { Deliveries } from './deliveries.ts'
import * as docs from './docs.ts'
import { ChangedWebhook, NewWebhook, Replay } from './schemas.ts'
import type { WebhookRecord, Webhooks } from './webhooks.ts'

interface WebhookParts {
  webhooks: Webhooks
  deliveries: Deliveries
}

/** /v1/webhooks: where events are sent, for keys of the scope `manage`. */
export function webhookRoutes({ webhooks, deliveries }: WebhookParts) {
  return (
    new Elysia({ prefix: '/v1/webhooks' })
      .use(callerContext())
      .get('', async ({ caller }) => ({ data: (await webhooks.list(caller.projectId)).map(shown) }), {
        detail: docs.listWebhooks,
      })
      .post(
        '',
        async ({ caller, body, set }) => {
          const made = await webhooks.create(caller.projectId, body, byKey(caller))
          set.status = 201
          set.headers.location = `/v1/webhooks/${made.id}`
          return made
        },
        { parse: 'json', body: bodyOf(NewWebhook), detail: docs.createWebhook },
      )
      // Elysia gives null for an id with broken percent-encoding.
      .get(
        '/:id',
        async ({ caller, params }) => shown(await webhooks.get(caller.projectId, params.id ?? '')),
        { detail: docs.getWebhook },
      )
      .patch(
        '/:id',
        async ({ caller, params, body }) =>
          shown(await webhooks.change(caller.projectId, params.id ?? '', body, byKey(caller))),
        { parse: 'json', body: bodyOf(ChangedWebhook), detail: docs.changeWebhook },
      )
      .delete(
        '/:id',
        ({ caller, params }) => webhooks.delete(caller.projectId, params.id ?? '', byKey(caller)),
        { detail: docs.deleteWebhook },
      )
      .post(
        '/:id/secret',
        ({ caller, params }) => webhooks.rotate(caller.projectId, params.id ?? '', byKey(caller)),
        { parse: 'json', body: bodyOf(NoMembers), detail: docs.rotateWebhook },
      )
      .post(
        '/:id/replay',
        async ({ caller, params, body, set }) => {
          set.status = 202
          return await webhooks.replay(caller.projectId, params.id ?? '', body.after, byKey(caller))
        },
        { parse: 'json', body: bodyOf(Replay), detail: docs.replayWebhook },
      )
      .get(
        '/:id/deliveries',
        async ({ caller, params }) => ({ data: await deliveries.list(caller.projectId, params.id ?? '') }),
        { detail: docs.listDeliveries },
      )
  )
}

/** Without the name of the person who made it. */
function shown({ createdBy, ...webhook }: WebhookRecord) {
  return webhook
}
