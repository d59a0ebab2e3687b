import { Elysia } from 'elysia'
import { byKey, callerContext } from '../http/caller.ts'
import { bodyOf } from '../validation.ts'
import type { Alerts } from './alerts.ts'
import * as docs from './docs.ts'
import { AlertChange, alertErrors } from './schemas.ts'

/** /v1/alerts: rules about figures of recent calls. */
export function alertRoutes(alerts: Alerts) {
  const alertBody = { parse: 'json' as const, body: bodyOf(AlertChange, alertErrors) }
  return (
    new Elysia({ prefix: '/v1/alerts' })
      .use(callerContext())
      .get('', async ({ caller }) => ({ data: await alerts.list(caller.projectId) }), {
        detail: docs.listAlerts,
      })
      .post(
        '',
        async ({ caller, body, set }) => {
          const alert = await alerts.create(caller.projectId, body, byKey(caller))
          set.status = 201
          set.headers.location = `/v1/alerts/${alert.id}`
          return alert
        },
        { ...alertBody, detail: docs.createAlert },
      )
      // Elysia gives null for an id with broken percent-encoding.
      .get('/:id', ({ caller, params }) => alerts.get(caller.projectId, params.id ?? ''), {
        detail: docs.getAlert,
      })
      .put(
        '/:id',
        ({ caller, params, body }) => alerts.put(caller.projectId, params.id ?? '', body, byKey(caller)),
        { ...alertBody, detail: docs.putAlert },
      )
      .delete(
        '/:id',
        ({ caller, params }) => alerts.delete(caller.projectId, params.id ?? '', byKey(caller)),
        {
          detail: docs.deleteAlert,
        },
      )
  )
}
