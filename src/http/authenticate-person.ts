import {
  type AppError,
  consoleOwnerOnly,
  forbidden,
  notFound,
  ownersOnly,
  signInRequired,
  twoFactorRequired,
} from '../errors.ts'
import { type Membership, mayDo, type Right, type SignedIn } from '../identity.ts'
import type { RequestContexts } from './request-context.ts'

interface PersonOptions {
  contexts: RequestContexts
  sessions: {
    /** Null if nobody is signed in. */
    signedIn(cookies: string | null): Promise<SignedIn | null>
    mustSetUpTwoFactor(person: SignedIn): Promise<boolean>
  }
  /** Null if there is no such project, or the person is not in it. */
  members: { membership(personId: string, publicProjectId: string): Promise<Membership | null> }
  /** The id of the console's owner; null if it has none. */
  people: { consoleOwner(): Promise<string | null> }
}

/**
 * Checks a request under /console/api by its cookie and path alone, and returns who sends it. Other requests pass.
 * @throws not_signed_in, not_found or forbidden unless the sender may send it
 */
export type AuthenticatePerson = (request: Request) => Promise<{ person?: SignedIn; member?: Membership }>

export function personAuthentication({
  contexts,
  sessions,
  members,
  people,
}: PersonOptions): AuthenticatePerson {
  return async (request) => {
    const { access } = contexts.of(request).surface
    if (!access) return {}
    const person = await sessions.signedIn(request.headers.get('cookie'))
    if (access.for === 'everyone') return person ? { person } : {}
    if (!person) throw signInRequired('You are not signed in, or your session has ended.')
    if (access.for === 'signedIn' && access.isForEntry) return { person }
    if (await sessions.mustSetUpTwoFactor(person)) throw twoFactorRequired()
    if (access.for === 'signedIn') return { person }
    if (access.for === 'consoleOwner') {
      if ((await people.consoleOwner()) !== person.personId) throw consoleOwnerOnly()
      return { person }
    }
    const member = await members.membership(person.personId, access.project)
    if (!member) throw notFound('There is no such project, or you are not a member of it.')
    if (!mayDo(access.for, member)) throw lacking(access.for)
    return { person, member }
  }
}

function lacking(right: Right): AppError {
  if (right === 'manage') return ownersOnly()
  const detail =
    right === 'delete'
      ? 'You may not delete anything in this project: its owners may, and its members where an owner allows it.'
      : 'You are a viewer of this project and cannot do this. An owner can make you a member.'
  return forbidden(detail)
}
