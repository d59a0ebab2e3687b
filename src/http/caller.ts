import { Elysia } from 'elysia'
import type { By, Caller } from '../identity.ts'

/** Gives handlers `caller`, which judge.ts sets on every request that needs a key. */
export function callerContext() {
  return new Elysia({ name: 'caller' }).decorate('caller', nobody())
}

/** The `caller` of a request whose key is not judged yet: no project has the id 0. */
function nobody(): Caller {
  return { projectId: 0, keyId: '', scope: null, allowedOrigins: [], clientAddress: () => null }
}

/** The holder of a key, as the audit trail names who did something. */
export function byKey({ keyId, clientAddress }: Caller): By {
  return { actor: { keyId }, address: clientAddress() }
}
