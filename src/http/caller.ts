import { Elysia } from 'elysia'
import type { ActedBy, Caller } from '../identity.ts'

/** Gives handlers `caller`, which authenticate.ts sets on every request that needs a key. */
export function callerContext() {
  return new Elysia({ name: 'caller' }).decorate('caller', nobody())
}

/** The `caller` before the key is checked: no project has the id 0. */
function nobody(): Caller {
  const nothing = { projectId: 0, project: '', keyId: '', scope: null, allowedOrigins: [] }
  return { ...nothing, clientAddress: () => null, check: async () => undefined }
}

/** The holder of a key, for the audit trail. */
export function byKey({ keyId, clientAddress }: Caller): ActedBy {
  return { actor: { keyId }, address: clientAddress() }
}
