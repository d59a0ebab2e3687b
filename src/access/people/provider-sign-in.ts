import { and, eq, or, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { isTaken } from '../../db/constraint.ts'
import { isConsoleOwner } from '../../db/requirements.ts'
import { accounts, invitations, people } from '../../db/schema.ts'
import { forbidden, notFound } from '../../errors.ts'
import { byPerson } from '../../identity.ts'
import { newId } from '../../ids.ts'
import type { Auth } from './auth.ts'
import { type Client, headersOf } from './client.ts'
import { dropPassword, insertPerson, type Person } from './credentials.ts'
import { changeGroupRoles, giveSomething, isLetIn } from './group-roles.ts'
import type { Identity } from './identity-claims.ts'
import { acceptInvitation, isOpenInvitation } from './links.ts'
import { type Provider, signInOver } from './provider.ts'
import type { ProviderConfig } from './provider-config.ts'
import type { FinishedSignIn } from './schemas.ts'
import type { SessionAnswer } from './session-answer.ts'
import type { Sessions } from './sessions.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import { hashToken } from './token.ts'

/** Where the provider sends the browser back to, below the console's address. */
const returnPath = '/console/sign-in/oidc'

interface ProviderSignInParts {
  auth: () => Promise<Auth>
  /** Null without one. */
  provider: Provider | null
  sessions: Pick<Sessions, 'openIdentified' | 'signedIn'>
  limits: Pick<SignInLimits, 'countProvider'>
  /** PUBLIC_URL; null for the origin at which the browser has the console open. */
}

/** A verified person at the provider. */
type Verified = Identity & { email: string }

/** A person here. `linked` is who they are at the provider, null before their first sign-in there. */
type Candidate = Person & { linked: string | null }

/**
 * Signs people in whom a provider has identified. They have roles by their groups there or by an invitation; of anyone
 * else nothing is stored. Both steps throw not_found without a provider; rate_limited; unavailable.
 */
export class ProviderSignIn {
  readonly #parts: Core & ProviderSignInParts

  constructor(core: Core, parts: ProviderSignInParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Where the browser signs in. The answer is good for this browser only. */
  async begin(client: Client): Promise<{ url: string }> {
    const { provider, api, returnUrl } = await this.#open(client)
    const { response: secret, headers } = await api.beginProviderSignIn({ returnHeaders: true })
    const url = await provider.signInUrl(secret, returnUrl)
    client.keepCookies(headers)
    return { url }
  }

  /**
   * Begins a session for the person whom the provider's answer names.
   * @throws not_signed_in for an answer to another sign-in than this browser's; forbidden for a person who is not let in
   */
  async finish({ query, invitation }: typeof FinishedSignIn.static, client: Client): Promise<SessionAnswer> {
    const { provider, api, returnUrl } = await this.#open(client)
    const secret = await api.readProviderSignIn({ headers: headersOf(client) })
    if (secret === null) throw signInOver()
    const callback = new URL(returnUrl)
    callback.search = query
    const { config } = provider
    const identity = verified(await provider.identify(secret, callback), config)
    const person = await this.#admit(identity, config, { invitation, client })
    return await this.#parts.sessions.openIdentified(person, config, client)
  }

  async #open(client: Client) {
    const { provider, auth, limits, config } = this.#parts
    if (!provider) throw notFound('There is no provider to sign in with here.')
    await limits.countProvider(client.address)
    const { api } = await auth()
    return { provider, api, returnUrl: (config.publicUrl ?? client.origin) + returnPath }
  }

  /** The person, with the roles that their groups give now. @throws forbidden when that leaves them in no project */
  async #admit(
    identity: Verified,
    config: ProviderConfig,
    { invitation, client }: { invitation: string | undefined; client: Client },
  ): Promise<Person> {
    const { write, audit, now: readClock } = this.#parts
    const now = readClock()
    const { issuer, name, groupRoles } = config
    const user = await this.#find(identity, config)
    const person = user ?? { id: newId('per'), name: identity.name ?? identity.email, email: identity.email }
    const by = byPerson({ ...person, personId: person.id }, client.address)
    const roles = groupRoles.filter(({ group }) => identity.groups?.includes(group))
    const tokenHash = hashToken(invitation ?? '')
    const mayJoin = sql`(${giveSomething(roles)} or exists (
      select 1 from ${invitations} where ${isOpenInvitation(tokenHash, now)}))`
    const isIn = isLetIn(person.id)
    // The setup link is the proof of the console's owner.
    const isUnprovedIn = sql`${isIn} and not ${isConsoleOwner(person.id)}`
    const { letIn } = await write
      .batch({
        created: user ? [] : [insertPerson(person, now, mayJoin)],
        ...changeGroupRoles({ personId: person.id, groupRoles: roles, now }, { by, audit }),
        accepted: Object.values(acceptInvitation({ tokenHash, person, by, now }, audit)),
        linked: sql`
          insert into ${accounts} (id, user_id, account_id, provider_id, created_at, updated_at)
          select ${newId('acc')}, ${person.id}, ${identity.subject}, ${issuer}, ${now}, ${now}
          where ${isIn} and not exists (
            select 1 from ${accounts} where user_id = ${person.id} and provider_id = ${issuer})`,
        entry: audit.entry({ by, projectId: null, action: 'sign_in_linked', target: name }),
        ...(user && (await this.#isUnproved(user, client)) ? dropPassword(user.id, isUnprovedIn) : {}),
        letIn: write
          .select({ id: people.id })
          .from(people)
          .where(and(eq(people.id, person.id), isIn)),
      })
      .catch((error) => {
        // The same person has just signed in for the first time in another tab.
        throw isTaken(error, 'people.email') ? signInOver() : error
      })
    if (letIn.length > 0) return person
    throw forbidden('You are not in any project here. Ask an owner of a project to invite you.')
  }

  /** By the provider's id of the person, or at their first sign-in there by the email address. */
  async #find({ subject, email }: Verified, { issuer, name }: ProviderConfig): Promise<Candidate | null> {
    const isOfIssuer = and(eq(accounts.userId, people.id), eq(accounts.providerId, issuer))
    const candidates = await this.#parts.read
      .select({ id: people.id, name: people.name, email: people.email, linked: accounts.accountId })
      .from(people)
      .leftJoin(accounts, isOfIssuer)
      .where(or(eq(accounts.accountId, subject), eq(people.email, email)))
    const person = candidates.find(({ linked }) => linked === subject) ?? candidates[0] ?? null
    // An address that somebody else had before must not open their account.
    if (person === null || person.linked === null || person.linked === subject) return person
    throw forbidden(`Your account here belongs to someone else at ${name}. Ask whoever runs Callbook.`)
  }

  /**
   * Whether the account is linked now and its password may be somebody else's: nobody has checked the address that they
   * gave with it. Whoever is signed in to the account in this browser has both.
   */
  async #isUnproved({ id, linked }: Candidate, { cookies }: Client): Promise<boolean> {
    if (linked !== null) return false
    return (await this.#parts.sessions.signedIn(cookies))?.personId !== id
  }
}

/** @throws forbidden without a verified email address of an allowed domain */
function verified(identity: Identity, { name, allowedDomains }: ProviderConfig): Verified {
  const { email } = identity
  if (email === null) throw forbidden(`${name} does not say that your email address is verified.`)
  const domain = email.slice(email.lastIndexOf('@') + 1)
  if (allowedDomains.length === 0 || allowedDomains.includes(domain)) return { ...identity, email }
  throw forbidden(`Email addresses of ${domain} may not sign in here.`)
}
