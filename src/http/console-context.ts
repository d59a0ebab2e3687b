import { Elysia } from 'elysia'
import type { Membership, SignedIn } from '../identity.ts'

/** Gives handlers `person`, `member` and `address`, which judge.ts sets on requests under /console/api. */
export function consoleContext() {
  return new Elysia({ name: 'console-context' })
    .decorate('person', nobody())
    .decorate('member', nowhere())
    .decorate('address', unknownAddress())
}

function nobody(): SignedIn {
  return { personId: '', name: '', email: '', sessionId: '' }
}

/** The `member` before the project is found: no project has the id 0. */
function nowhere(): Membership {
  return { projectId: 0, publicId: '', role: 'viewer', membersMayDelete: false }
}

/** The client's address, for the audit trail. */
function unknownAddress(): string | null {
  return null
}
