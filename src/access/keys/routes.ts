import { Elysia } from 'elysia'
import { callerContext } from '../../http/caller.ts'
import { jsonAnswer, keyedAnswers } from '../../http/openapi.ts'
import type { Keys } from './keys.ts'
import { OwnKey } from './schemas.ts'

/** /v1/key: what the request's key may do. */
export function ownKeyRoutes(keys: Keys) {
  return new Elysia({ prefix: '/v1/key' })
    .use(callerContext())
    .get('', ({ caller }) => keys.describe(caller.projectId, caller.keyId), {
      detail: {
        tags: ['Service'],
        security: [{ apiKey: [] }],
        operationId: 'getKey',
        summary: 'See what the requesting key can do',
        responses: keyedAnswers({ 200: jsonAnswer('The key, without its secret.', OwnKey) }, []),
      },
    })
}
