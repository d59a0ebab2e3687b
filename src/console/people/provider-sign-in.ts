import { and, eq, sql } from 'drizzle-orm'
import { isTaken } from '../../db/constraint.ts'
import { accounts, people } from '../../db/schema.ts'
import { forbidden, notFound } from '../../errors.ts'
import { byPerson } from '../../identity.ts'
import { newId } from '../../ids.ts'
import type { FinishedSignIn } from '../schemas.ts'
import type { Auth } from './auth.ts'
import { type Client, headersOf } from './client.ts'
import { findPerson, insertPerson, type Person } from './credentials.ts'
import { changeGroupRoles, giveSomething, isLetIn } from './group-roles.ts'
import type { Identity } from './identity-claims.ts'
import { acceptInvitation, isOpenInvitation } from './links.ts'
import type { PeopleOptions, ProviderConfig } from './options.ts'
import { type Provider, signInOver } from './provider.ts'
import type { SessionAnswer } from './session-answer.ts'
import type { Sessions } from './sessions.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import { hashToken } from './token.ts'

/** Where the provider sends the browser back to, below the console's address. */
const returnPath = '/console/sign-in/oidc'

interface ProviderSignInOptions extends PeopleOptions {
  auth: () => Promise<Auth>
  /** Null without a provider. */
  provider: Provider | null
  sessions: Pick<Sessions, 'openIdentified'>
  limits: Pick<SignInLimits, 'countProvider'>
}

/** A verified person at the provider. */
type Verified = Identity & { email: string }

/**
 * Signs people in whom a provider has identified. They have roles by their groups there or by an invitation; of anyone
 * else nothing is stored.
 */
export class ProviderSignIn {
  readonly #options: ProviderSignInOptions

  constructor(options: ProviderSignInOptions) {
    this.#options = options
  }

  /**
   * Where the browser signs in. Its answer leads back to the same browser only.
   * @param baseUrl PUBLIC_URL, or the origin of the request
   * @throws not_found without a provider; rate_limited; unavailable
   */
  async begin(baseUrl: string, client: Client): Promise<{ url: string }> {
    const { auth, limits } = this.#options
    const { provider } = this.#configured()
    await limits.countProvider(client.address)
    const { api } = await auth()
    const { response, headers } = await api.beginProviderSignIn({ returnHeaders: true })
    const url = await provider.signInUrl(response.secret, baseUrl + returnPath)
    client.keepCookies(headers)
    return { url }
  }

  /**
   * Begins a session for the person whom the provider's answer names.
   * @throws not_found, rate_limited and unavailable as above; not_signed_in for an answer that does not belong to this
   * browser's sign-in; forbidden for a person who is not let in
   */
  async finish(
    { query, invitation }: typeof FinishedSignIn.static,
    baseUrl: string,
    client: Client,
  ): Promise<SessionAnswer> {
    const { auth, limits, sessions } = this.#options
    const { provider, oidc } = this.#configured()
    await limits.countProvider(client.address)
    const { api } = await auth()
    const { secret } = await api.readProviderSignIn({ headers: headersOf(client) })
    if (secret === null) throw signInOver()
    const returned = new URL(baseUrl + returnPath)
    returned.search = query
    const identity = verified(await provider.identify(secret, returned), oidc)
    return await sessions.openIdentified(await this.#admit(identity, oidc, { invitation, client }), client)
  }

  #configured(): { provider: Provider; oidc: ProviderConfig } {
    const { provider, oidc } = this.#options
    if (provider && oidc) return { provider, oidc }
    throw notFound('There is no provider to sign in with here.')
  }

  /** The person, with the roles that their groups give now. @throws forbidden when that leaves them in no project */
  async #admit(
    identity: Verified,
    { issuer, name, groupRoles }: ProviderConfig,
    { invitation, client }: { invitation: string | undefined; client: Client },
  ): Promise<Person> {
    const { write, audit, now: readClock } = this.#options
    const now = readClock()
    const known = await this.#find(identity, { issuer, name })
    const person = known ?? { id: newId('per'), name: identity.name ?? identity.email, email: identity.email }
    const by = byPerson({ ...person, personId: person.id }, client.address)
    const given = groupRoles.filter(({ group }) => identity.groups?.includes(group))
    const tokenHash = hashToken(invitation ?? '')
    const mayJoin = sql`(${giveSomething(given)} or ${isOpenInvitation(tokenHash, now)})`
    const isIn = isLetIn(person.id)
    const { letIn } = await write
      .batch({
        created: known ? [] : [insertPerson(person, now, mayJoin)],
        ...changeGroupRoles({ personId: person.id, given, by, now }, audit),
        accepted: Object.values(acceptInvitation({ tokenHash, person, by, now }, audit)),
        linked: sql`
          insert into ${accounts} (id, user_id, account_id, provider_id, created_at, updated_at)
          select ${newId('acc')}, ${person.id}, ${identity.subject}, ${issuer}, ${now}, ${now}
          where ${isIn} and not exists (
            select 1 from ${accounts} where user_id = ${person.id} and provider_id = ${issuer})`,
        entry: audit.entry({ by, projectId: null, action: 'sign_in_linked', target: name }),
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
  async #find(
    { subject, email }: Verified,
    { issuer, name }: Pick<ProviderConfig, 'issuer' | 'name'>,
  ): Promise<Person | null> {
    const { read } = this.#options
    const columns = { id: people.id, name: people.name, email: people.email, subject: accounts.accountId }
    const isOfIssuer = and(eq(accounts.userId, people.id), eq(accounts.providerId, issuer))
    const linked = read.select(columns).from(people).innerJoin(accounts, isOfIssuer)
    const [person] = await linked.where(eq(accounts.accountId, subject))
    if (person) return person
    // An address that somebody else had before must not open their account.
    const [other] = await linked.where(eq(people.email, email))
    if (!other) return await findPerson(read, email)
    throw forbidden(`Your account here belongs to someone else at ${name}. Ask whoever runs Callbook.`)
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
