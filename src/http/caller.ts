import { Elysia } from 'elysia'
import type { Caller } from '../auth/keys.ts'

/** Gives handlers `caller`, which authenticate.ts sets on every request whose path asks for a key. */
export function callerContext() {
  return new Elysia({ name: 'caller' }).decorate('caller', nobody())
}

/** What `caller` is before a key was judged: no project has the id 0. */
function nobody(): Caller {
  return { projectId: 0, keyId: '' }
}
