import { Elysia } from 'elysia'
import type { ActedBy, Caller } from '../identity.ts'

/** Vapi sends this header to MCP servers; other platforms can be configured to. */
const callHeader = 'x-call-id'

/** Gives handlers `caller`, which authenticate.ts sets on every request that needs a key. */
export function callerContext() {
  return new Elysia({ name: 'caller' }).decorate('caller', nobody())
}

/** The `caller` before the key is checked: no project has the id 0. */
function nobody(): Caller {
  const nothing = { projectId: 0, project: '', keyId: '', scope: null, tags: [], allowedOrigins: [] }
  return { ...nothing, clientAddress: () => null, check: async () => undefined }
}

/** The holder of a key, for the audit trail. */
export function byKey({ keyId, clientAddress }: Caller): ActedBy {
  return { actor: { keyId }, address: clientAddress() }
}

/** The call id in the headers of a request; null if they have none. */
export function callIdOf({ headers }: Request): string | null {
  return headers.get(callHeader)
}
