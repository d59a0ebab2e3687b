import { and, desc, eq, gt, lt, not } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { people, sessions, verifications } from '../../db/schema.ts'
import { AppError, invalidRequest, notFound, refuseFields } from '../../errors.ts'
import { type ActedBy, byPerson, personLabel, type SignedIn } from '../../identity.ts'
import type { Auth } from './auth.ts'
import { type Client, headersOf } from './client.ts'
import {
  changePassword,
  findPasswordHash,
  findPerson,
  hasPassword,
  normalizeEmail,
  type Person,
  passwordProblem,
  refusePasswords,
} from './credentials.ts'
import { sessionRenewedAfterMs } from './open-sessions.ts'
import { signInOver } from './provider.ts'
import type { ProviderConfig } from './provider-config.ts'
import type { ChangePassword, SignIn } from './schemas.ts'
import { describeSession, type SessionAnswer } from './session-answer.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import { hashToken } from './token.ts'
import { challengeOver, codeRefusal, hasTwoFactor, verifyCode } from './two-factor.ts'
import { mustSetUpTwoFactor } from './two-factor-rule.ts'

/** An open session, as its person sees it. */
export type SessionRow = Awaited<ReturnType<Sessions['list']>>[number]

interface SessionsParts {
  /** Loads better-auth at the first call. */
  auth: () => Promise<Auth>
  limits: SignInLimits
}

/** Signs people in and out. */
export class Sessions {
  readonly #parts: Core & SessionsParts

  constructor(core: Core, parts: SessionsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** The person whom the cookies sign in. Writes nothing: the guard calls this for every request. */
  async signedIn(cookies: string | null): Promise<SignedIn | null> {
    if (cookies === null) return null
    const headers = new Headers({ cookie: cookies })
    const current = await this.#ask(({ api }) => api.getSession({ headers, query: { disableRefresh: true } }))
    if (!current) return null
    const { user, session } = current
    return { personId: user.id, name: user.name, email: user.email, sessionId: session.id }
  }

  /** Whether the person has to set up a second factor before anything else. */
  mustSetUpTwoFactor(person: SignedIn): Promise<boolean> {
    return mustSetUpTwoFactor(this.#parts, person)
  }

  /** What the page needs to know about its session. Extends the session and its cookie. */
  async current(client: Client): Promise<SessionAnswer> {
    const base = { headers: headersOf(client), returnHeaders: true } as const
    const answer = await this.#ask(({ api }) => api.getSession({ ...base, query: { disableRefresh: true } }))
    // better-auth would renew one that ends soon, as those of a provider's sign-in do, at each request.
    const renewedAt = answer.response?.session.updatedAt.getTime() ?? Number.POSITIVE_INFINITY
    const isDue = renewedAt + sessionRenewedAfterMs <= this.#parts.now()
    const { response, headers } = isDue ? await this.#ask(({ api }) => api.getSession(base)) : answer
    const needsCode = !response && (await this.#challengedBy(client)) !== null
    client.keepCookies(headers)
    const sessionId = response?.session.id ?? null
    return await describeSession(this.#parts, response?.user ?? null, { needsCode, sessionId })
  }

  /**
   * Begins a new session, and ends the one that the request's cookie belongs to, if any.
   * @throws wrong_credentials, the same for an unknown email address and for a wrong password; rate_limited; forbidden
   * where passwords are not accepted
   */
  async signIn(credentials: typeof SignIn.static, client: Client): Promise<SessionAnswer> {
    refusePasswords(this.#parts.config.oidc)
    const email = normalizeEmail(credentials.email)
    await this.#parts.limits.countSignIn(email, client.address)
    return await this.open({ ...credentials, email }, client).catch((error) => {
      if (!isAPIError(error)) throw error
      void this.#recordFailure(email, client)
      throw wrongCredentials()
    })
  }

  /** Signs in without counting towards the limits, for somebody who has just set this password through a link. */
  async open(credentials: typeof SignIn.static, client: Client): Promise<SessionAnswer> {
    const user = await this.#begin(credentials, client)
    if (user === null) return await describeSession(this.#parts, null, { needsCode: true })
    return await this.#answer(user, client)
  }

  /** Begins a session for a person whom the provider has identified, in place of this browser's own. */
  async openIdentified(person: Person, { name, sessionHours }: ProviderConfig, client: Client) {
    const { write, now } = this.#parts
    const before = await this.signedIn(client.cookies)
    const seconds = sessionHours * 3_600
    const body = { personId: person.id, endsAt: new Date(now() + seconds * 1_000), seconds }
    const headers = headersOf({ ...client, cookies: null })
    const signIn = await this.#ask(({ api }) => api.endProviderSignIn({ body, headers, returnHeaders: true }))
    if (!signIn.response) throw signInOver()
    await write.batch({
      expired: write.delete(sessions).where(lt(sessions.expiresAt, new Date(now()))),
      replaced: write.delete(sessions).where(eq(sessions.id, before?.sessionId ?? '')),
    })
    client.keepCookies(signIn.headers)
    return await this.#answer(person, client, name)
  }

  /**
   * Completes a sign-in that waits for the second factor.
   * @param code of an authenticator app, or a backup code
   * @throws invalid_request for a wrong code; not_signed_in when no sign-in waits; rate_limited
   */
  async enterCode(code: string, client: Client): Promise<SessionAnswer> {
    const { read, limits } = this.#parts
    await limits.countCode(client.address)
    const challenge = await this.#challengedBy(client)
    if (!challenge) throw challengeOver()
    const { cookie, person } = challenge
    const passwordHash = await findPasswordHash(read, person.email)
    // Leaves out the session of anyone signed in at the same time: better-auth would check that person's code.
    const headers = headersOf({ ...client, cookies: cookie })
    const { response, headers: sessionHeaders } = await this.#ask(({ api }) =>
      verifyCode({ api, limits }, { personId: person.id, code, headers }),
    ).catch((error) => {
      if (isAPIError(error)) void this.#recordFailure(person.email, client)
      throw codeRefusal(error, challengeOver)
    })
    await this.#keep({ user: person, token: response.token ?? '', passwordHash }, client)
    client.keepCookies(sessionHeaders)
    return await this.#answer(person, client)
  }

  /** @param provider where the person signed in, unless it was here */
  async #answer(user: Person, client: Client, provider: string | null = null): Promise<SessionAnswer> {
    const { audit } = this.#parts
    const by = byPerson({ ...user, personId: user.id }, client.address)
    await audit.record({ by, projectId: null, action: 'signed_in', target: provider })
    return await describeSession(this.#parts, user, { isIdentified: provider !== null })
  }

  /** @param scope `everywhere` ends every session of the person, including this one */
  async signOut(
    person: SignedIn,
    client: Client,
    scope: 'here' | 'everywhere',
  ): Promise<{ signedOut: true }> {
    const { write, audit } = this.#parts
    const [which, action] =
      scope === 'here'
        ? ([eq(sessions.id, person.sessionId), 'signed_out'] as const)
        : ([eq(sessions.userId, person.personId), 'signed_out_everywhere'] as const)
    const by = byPerson(person, client.address)
    await write.batch({
      ended: write.delete(sessions).where(which),
      entry: audit.entry({ by, projectId: null, action, target: null }),
    })
    const { headers } = await this.#ask(({ api }) =>
      api.signOut({ headers: headersOf(client), returnHeaders: true }),
    )
    client.keepCookies(headers)
    return { signedOut: true }
  }

  /** Returns the sessions, newest first. */
  async list({ personId, sessionId }: SignedIn) {
    const rows = await this.#parts.read
      .select()
      .from(sessions)
      .where(and(eq(sessions.userId, personId), gt(sessions.expiresAt, new Date(this.#parts.now()))))
      .orderBy(desc(sessions.updatedAt), desc(sessions.id))
    return rows.map(({ id, createdAt, updatedAt, ipAddress, userAgent }) => ({
      id,
      isCurrent: id === sessionId,
      createdAt: createdAt.toISOString(),
      lastSeenAt: updatedAt.toISOString(),
      ipAddress,
      userAgent: userAgent || null,
    }))
  }

  /** @throws not_found for a session of somebody else */
  async end(person: SignedIn, id: string, by: ActedBy): Promise<{ signedOut: true }> {
    const { write, audit } = this.#parts
    const { ended } = await write.batch({
      ended: write.delete(sessions).where(and(eq(sessions.id, id), eq(sessions.userId, person.personId))),
      entry: audit.entry({ by, projectId: null, action: 'session_ended', target: null }),
    })
    if (ended.rowsAffected === 0) throw notFound('You have no such session.')
    return { signedOut: true }
  }

  /**
   * Ends all of the person's sessions and begins a new one. With a second factor that would ask for a code, so this
   * session stays.
   * @throws invalid_request for a wrong password; forbidden where passwords are not accepted
   */
  async changePassword(
    person: SignedIn,
    { currentPassword, newPassword }: typeof ChangePassword.static,
    client: Client,
  ): Promise<{ changed: true }> {
    const { auth, limits, read, write, audit, now, config } = this.#parts
    refusePasswords(config.oidc)
    refuseFields({ newPassword: passwordProblem(newPassword) })
    await limits.countOwnPassword(person.personId)
    const { password } = await (await auth()).$context
    const currentHash = await findPasswordHash(read, person.email)
    if (!currentHash || !(await password.verify({ hash: currentHash, password: currentPassword })))
      throw wrongCurrentPassword()
    const { personId } = person
    const by = byPerson(person, client.address)
    const passwordHash = await password.hash(newPassword)
    const condition = hasPassword(personId, currentHash)
    const keptSession = (await hasTwoFactor(read, personId)) ? person.sessionId : undefined
    const entry = audit.entry({ by, projectId: null, action: 'password_changed', target: null })
    const { changed } = await write.batch(
      changePassword({ personId, passwordHash, now: now(), condition, entry, keptSession }),
    )
    if (changed.rowsAffected === 0) throw wrongCurrentPassword()
    if (keptSession === undefined) await this.#begin({ email: person.email, password: newPassword }, client)
    return { changed: true }
  }

  /**
   * Begins a session if the password is right. Verifying takes long enough for the password to be changed in the
   * meantime, so the session is kept only if the password is still the same afterwards. Null when a code is asked
   * for next.
   */
  async #begin(credentials: typeof SignIn.static, client: Client): Promise<Person | null> {
    const { read, write } = this.#parts
    const passwordHash = await findPasswordHash(read, credentials.email)
    const { response, headers } = await this.#ask(({ api }) =>
      api.signInEmail({
        body: credentials,
        headers: headersOf({ ...client, cookies: null }),
        returnHeaders: true,
      }),
    ).catch(async (error) => {
      // The person may have been deleted, or their password changed, in the meantime.
      const isSame = (await findPasswordHash(read, credentials.email)) === passwordHash
      throw isSame ? error : wrongCredentials()
    })
    if ('token' in response) {
      await this.#keep({ ...response, passwordHash }, client)
      client.keepCookies(headers)
      return response.user
    }
    const person = await findPerson(read, credentials.email)
    const isChallenge = eq(verifications.value, person?.id ?? '')
    const ended = await write
      .delete(verifications)
      .where(and(isChallenge, not(hasPassword(person?.id ?? '', passwordHash))))
    if (!person || ended.rowsAffected > 0) throw wrongCredentials()
    client.keepCookies(headers)
    return null
  }

  /** @throws wrong_credentials when the password has been changed since it was checked */
  async #keep(
    { user, token, passwordHash }: { user: Person; token: string; passwordHash: string | null },
    client: Client,
  ): Promise<void> {
    const { write, limits, now } = this.#parts
    const before = await this.signedIn(client.cookies)
    const isNew = eq(sessions.token, hashToken(token))
    const { newSessions } = await write.batch({
      refused: write.delete(sessions).where(and(isNew, not(hasPassword(user.id, passwordHash)))),
      expired: write.delete(sessions).where(lt(sessions.expiresAt, new Date(now()))),
      replaced: write.delete(sessions).where(eq(sessions.id, before?.sessionId ?? '')),
      newSessions: write.select({ id: sessions.id }).from(sessions).where(isNew),
      limits: limits.resetting(user.email),
    })
    if (newSessions.length === 0) throw wrongCredentials()
  }

  /** The sign-in that waits for a code in this browser, with the cookie that stands for it. */
  async #challengedBy({ cookies }: Client): Promise<{ cookie: string; person: Person } | null> {
    const [cookie, identifier] =
      /(?:^|;\s*)((?:__Secure-)?callbook\.two_factor=([\w-]+)[^;]*)/.exec(cookies ?? '')?.slice(1) ?? []
    if (!cookie || !identifier) return null
    const [person] = await this.#parts.read
      .select({ id: people.id, name: people.name, email: people.email })
      .from(verifications)
      .innerJoin(people, eq(people.id, verifications.value))
      .where(
        and(
          eq(verifications.identifier, identifier),
          gt(verifications.expiresAt, new Date(this.#parts.now())),
        ),
      )
    return person ? { cookie, person } : null
  }

  /** Calls better-auth, and rethrows the error that its own error wraps. */
  async #ask<Result>(question: (auth: Auth) => Promise<Result>): Promise<Result> {
    try {
      return await question(await this.#parts.auth())
    } catch (error) {
      if (isAPIError(error) && error.cause instanceof Error) throw error.cause
      throw error
    }
  }

  /** Never fails. Not awaited: the response time must not reveal whether the email address is in use. */
  async #recordFailure(email: string, { address }: Client): Promise<void> {
    const { read, audit, log } = this.#parts
    try {
      const person = await findPerson(read, email)
      if (!person) return
      const by = { kind: 'stranger', personId: person.id, address } as const
      await audit.record({ by, projectId: null, action: 'sign_in_failed', target: personLabel(person) })
    } catch (error) {
      // The answer has already been sent.
      log.error({ error }, 'Could not record a failed sign-in in the audit trail')
    }
  }
}

/** Whether better-auth has refused a request. */
function isAPIError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'APIError'
}

function wrongCurrentPassword(): AppError {
  return invalidRequest([{ field: 'currentPassword', message: 'is wrong' }])
}

function wrongCredentials(): AppError {
  return new AppError('wrong_credentials', 'Email address or password is wrong', {
    detail: 'Email address or password is wrong.',
    headers: { 'WWW-Authenticate': 'Cookie realm="Callbook console"' },
  })
}
