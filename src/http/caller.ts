import { Elysia } from 'elysia'
import type { By, Caller } from '../identity.ts'

/** Gives handlers `caller`, which authenticate.ts sets on every request whose path asks for a key. */
export function callerContext() {
  return new Elysia({ name: 'caller' }).decorate('caller', nobody())
}

/** What `caller` is before a key was judged: no project has the id 0. */
function nobody(): Caller {
  return { projectId: 0, keyId: '', clientAddress: () => null }
}

/** What whoever holds a key does, for the audit trail. */
export function byKey({ keyId, clientAddress }: Caller): By {
  return { actor: { keyId }, address: clientAddress() }
}
