import { Elysia } from 'elysia'
import type { Membership, SignedIn } from '../identity.ts'

const nobody: SignedIn = { personId: '', name: '', email: '', sessionId: '' }
/** The `member` before the project is found: no project has the id 0. */
const nowhere: Membership = { projectId: 0, publicId: '', role: 'viewer', membersMayDelete: false }

/**
 * Gives handlers `person`, `member` and, for the audit trail, the client's `address`, which authenticate.ts sets on requests
 * under /console/api.
 */
export function consoleContext() {
  return new Elysia({ name: 'console-context' })
    .decorate('person', nobody)
    .decorate('member', nowhere)
    .decorate<'address', string | null>('address', null)
}
