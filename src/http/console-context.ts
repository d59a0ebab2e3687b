import { Elysia } from 'elysia'

/** The person signed in to the console, and their session. */
export interface SignedIn {
  readonly personId: string
  readonly name: string
  readonly email: string
  readonly sessionId: string
}

/** The project named by a path of the console, and the signed-in person's role in it. */
export interface Membership {
  readonly projectId: number
  readonly publicId: string
  readonly role: 'owner' | 'member'
}

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

/** The `member` of a request whose project is not found yet: no project has the id 0. */
function nowhere(): Membership {
  return { projectId: 0, publicId: '', role: 'member' }
}

/** The client's address, for the audit trail. */
function unknownAddress(): string | null {
  return null
}
