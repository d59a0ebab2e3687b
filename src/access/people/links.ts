import { and, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { AuditTrail } from '../../audit/audit-trail.ts'
import type { Core } from '../../core/core.ts'
import { isTaken } from '../../db/constraint.ts'
import { readMeta } from '../../db/meta.ts'
import { consoleOwnerName } from '../../db/requirements.ts'
import { accounts, invitations, members, meta, people, projects } from '../../db/schema.ts'
import { type AppError, invalidRequest, notFound, refuseFields, signInRequired } from '../../errors.ts'
import { type ActedBy, byPerson, personLabel, type Role, type SignedIn } from '../../identity.ts'
import { newId } from '../../ids.ts'
import type { Auth } from './auth.ts'
import type { Client } from './client.ts'
import {
  changePassword,
  checkNewPerson,
  findPerson,
  hasPassword,
  insertWithPassword,
  type NewPerson,
  type NewPersonRow,
  normalizeEmail,
  type Person,
  passwordProblem,
  refusePasswords,
} from './credentials.ts'
import { rankOf } from './group-roles.ts'
import { inviterName, isStillAllowed, refuseLinks } from './invitations.ts'
import type { AcceptInvitation, ResetPassword, SetUp } from './schemas.ts'
import { describeSession, type SessionAnswer } from './session-answer.ts'
import type { Sessions } from './sessions.ts'
import { setupHashName } from './set-up.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import { hashToken } from './token.ts'

/** What a one-time link is for, before it is used. */
export type LinkAnswer =
  | { kind: 'setup' }
  | { kind: 'invitation'; projectName: string; role: Role; invitedBy: string | null }
  | { kind: 'password'; email: string }

interface LinksParts {
  limits: Pick<SignInLimits, 'countLink'>
  auth: () => Promise<Auth>
  sessions: Pick<Sessions, 'open'>
}

/** Checks and uses one-time links. Of two concurrent uses, one fails with `not_found`. */
export class Links {
  readonly #parts: Core & LinksParts

  constructor(core: Core, parts: LinksParts) {
    this.#parts = { ...core, ...parts }
  }

  /** @throws not_found for a link that was used, was revoked, has expired or never existed */
  async check(token: string): Promise<LinkAnswer> {
    if (await this.#isSetupToken(token)) return { kind: 'setup' }
    const link = await this.#find(token)
    if (link.personId !== null) return { kind: 'password', email: link.email ?? '' }
    return {
      kind: 'invitation',
      projectName: link.projectName ?? '',
      role: link.role ?? 'member',
      invitedBy: link.invitedBy,
    }
  }

  /** Creates the first person, who owns the console and every project without an owner. */
  async setUp({ token, ...input }: typeof SetUp.static, client: Client): Promise<SessionAnswer> {
    if (!(await this.#isSetupToken(token))) throw deadLink()
    const isGood = sql`exists (
      select 1 from ${meta} where name = ${setupHashName} and value = ${hashToken(token)})`
    return await this.#asNewPerson({ token, input, path: '', client }, async (person) => {
      const results = await this.#parts.write.batch(this.#insertOwner(person, isGood, client.address))
      if (results.person.rowsAffected === 0) throw deadLink()
    })
  }

  /** The statements that create the console's owner without a link. The input is not checked. */
  async ownerInsertion(email: string, password: string): Promise<SQL[]> {
    const [name = ''] = email.trim().split('@')
    const passwordHash = await this.#hash(password)
    const person = {
      id: newId('per'),
      name,
      email: normalizeEmail(email),
      passwordHash,
      createdAt: this.#parts.now(),
    }
    return Object.values(this.#insertOwner(person, sql`true`, null))
  }

  #insertOwner(person: NewPersonRow, condition: SQL, address: string | null) {
    const { audit, now } = this.#parts
    const personId = person.id
    const by = byPerson({ ...person, personId }, address)
    const isMade = sql`exists (select 1 from ${people} where id = ${personId})`
    return {
      ...insertWithPassword(person, condition),
      entry: audit.entry({ by, projectId: null, action: 'console_set_up', target: null }),
      memberships: sql`
        insert into ${members} (project_id, person_id, role, created_at)
        select id, ${personId}, 'owner', ${now()} from ${projects}
        where ${isMade} and deleted_at is null and id not in (
          select project_id from ${members} where role = 'owner')`,
      owner: sql`
        insert into ${meta} (name, value) select ${consoleOwnerName}, ${personId} where ${isMade}
        on conflict do nothing`,
      link: sql`delete from ${meta} where name = ${setupHashName} and ${isMade}`,
    }
  }

  async #hash(password: string): Promise<string> {
    return await (await (await this.#parts.auth()).$context).password.hash(password)
  }

  /**
   * Joins a project, as a new person or as the signed-in one. An invitation never lowers a role.
   * @throws invalid_request when the new person's email address is already in use; forbidden for a new person where
   * passwords are not accepted
   */
  async accept(
    { token, newPerson }: typeof AcceptInvitation.static,
    signedIn: SignedIn,
    client: Client,
  ): Promise<SessionAnswer> {
    const { oidc } = this.#parts.config
    const link = await this.#find(token)
    if (link.projectId === null) throw deadLink()
    if (newPerson) {
      refusePasswords(oidc)
      const invite = { token, input: newPerson, path: 'newPerson.', client }
      return await this.#asNewPerson(invite, (person) => this.#join(link.tokenHash, person, client, person))
    }
    if (signedIn.personId === '')
      throw signInRequired(
        'Sign in and open the link again, or join with a name, an email address and a password.',
      )
    const { personId: id, name, email } = signedIn
    const person = { id, name, email }
    await this.#join(link.tokenHash, person, client)
    return await describeSession(this.#parts, person, { sessionId: signedIn.sessionId })
  }

  /** Sets a new password, ends all of the person's sessions and signs them in. */
  async resetPassword(
    { token, password }: typeof ResetPassword.static,
    client: Client,
  ): Promise<SessionAnswer> {
    const { personId, personName: name, email } = await this.#find(token)
    if (personId === null || name === null || email === null) throw deadLink()
    refuseFields({ password: passwordProblem(password) })
    const { write, audit, now, sessions, config } = this.#parts
    const passwordHash = await this.#hash(password)
    const by = byPerson({ personId, name, email }, client.address)
    const action = config.oidc?.isOnly ? 'signed_in_past_provider' : 'password_reset'
    const entry = audit.entry({ by, projectId: null, action, target: null })
    const condition = sql`exists (select 1 from ${invitations}
      where token_hash = ${hashToken(token)} and expires_at > ${now()} and ${isStillAllowed})`
    const { changed } = await write.batch({
      ...changePassword({ personId, passwordHash, now: now(), condition, entry }),
      // Whoever is somebody else at the provider now is found again by the email address.
      identities: sql`
        delete from ${accounts} where user_id = ${personId} and provider_id <> 'credential'
          and ${hasPassword(personId, passwordHash)}`,
    })
    if (changed.rowsAffected === 0) throw deadLink()
    return await sessions.open({ email, password }, client)
  }

  async #isSetupToken(token: string): Promise<boolean> {
    const hash = (await readMeta(this.#parts.read, setupHashName)).get(setupHashName)
    return hash === hashToken(token)
  }

  async #find(token: string) {
    const [link] = await this.#parts.read
      .select({
        tokenHash: invitations.tokenHash,
        projectId: invitations.projectId,
        createdBy: invitations.createdBy,
        projectName: projects.name,
        role: invitations.role,
        invitedBy: inviterName,
        personId: invitations.personId,
        personName: people.name,
        email: people.email,
      })
      .from(invitations)
      .leftJoin(projects, and(eq(projects.id, invitations.projectId), isNull(projects.deletedAt)))
      .leftJoin(people, eq(people.id, invitations.personId))
      .where(
        and(
          eq(invitations.tokenHash, hashToken(token)),
          gt(invitations.expiresAt, this.#parts.now()),
          or(sql`${projects.id} is not null`, sql`${people.id} is not null`),
          isStillAllowed,
        ),
      )
    if (!link) throw deadLink()
    if (link.personId !== null) await refuseLinks(this.#parts, link.personId, link.createdBy)
    return link
  }

  /**
   * Creates a person and signs them in. Counts the attempt before the answer can reveal that an email address is in use.
   * @param path where the request's body has `input`
   * @throws rate_limited; invalid_request, also for an email address that is in use
   */
  async #asNewPerson(
    { token, input, path, client }: { token: string; input: NewPerson; path: string; client: Client },
    create: (person: NewPersonRow) => Promise<void>,
  ): Promise<SessionAnswer> {
    const { name, email, password } = checkNewPerson(input, path)
    const { read, limits, sessions, now } = this.#parts
    await limits.countLink(hashToken(token))
    // Before the hash, which costs much more.
    if (await findPerson(read, email)) throw emailInUse(`${path}email`)
    const passwordHash = await this.#hash(password)
    await create({ id: newId('per'), name, email, passwordHash, createdAt: now() }).catch((error) => {
      throw isTaken(error, 'people.email') ? emailInUse(`${path}email`) : error
    })
    return await sessions.open({ email, password }, client)
  }

  async #join(tokenHash: string, person: Person, client: Client, newPerson?: NewPersonRow): Promise<void> {
    const { write, audit, now } = this.#parts
    const isGood = sql`exists (select 1 from ${invitations} where ${isOpenInvitation(tokenHash, now())})`
    const by = byPerson({ ...person, personId: person.id }, client.address)
    const { accepted } = await write.batch({
      person: newPerson ? Object.values(insertWithPassword(newPerson, isGood)) : [],
      ...acceptInvitation({ tokenHash, person, by, now: now() }, audit),
    })
    if (accepted.rowsAffected === 0) throw deadLink()
  }
}

/** Whether a row of `invitations` is an open one with this token. */
export function isOpenInvitation(tokenHash: string, now: number): SQL {
  return sql`token_hash = ${tokenHash} and project_id is not null and expires_at > ${now}`
}

/** The statements that take a person into the project of an open invitation. `accepted` changes a row if they do. */
export function acceptInvitation(
  { tokenHash, person, by, now }: { tokenHash: string; person: Person; by: ActedBy; now: number },
  audit: Pick<AuditTrail, 'entries'>,
) {
  const isThis = isOpenInvitation(tokenHash, now)
  const isMade = sql`exists (select 1 from ${people} where id = ${person.id})`
  const higher = (role: SQL) =>
    sql`case when ${rankOf(sql`excluded.role`)} > ${rankOf(role)} then excluded.role else ${role} end`
  return {
    expired: sql`delete from ${invitations} where expires_at <= ${now}`,
    entry: audit.entries(
      { by, projectId: sql`of_project`, action: 'invitation_accepted', targetRef: person.id },
      sql`(select project_id as of_project, ${personLabel(person)} as value
        from ${invitations} where ${isThis} and ${isMade})`,
    ),
    member: sql`
      insert into ${members} (project_id, person_id, role, created_at)
      select project_id, ${person.id}, role, ${now} from ${invitations} where ${isThis} and ${isMade}
      on conflict do update set role = ${higher(sql`role`)},
        without_groups = case when without_groups is not null then ${higher(sql`without_groups`)} end`,
    accepted: sql`delete from ${invitations} where ${isThis} and ${isMade}`,
  }
}

/** @param field `email` comes from a set-up link, where there is nobody to sign in as */
function emailInUse(field: string): AppError {
  const advice = field === 'email' ? 'choose another' : 'sign in first, then open the link again'
  return invalidRequest([{ field, message: `is already in use here: ${advice}` }])
}

function deadLink(): AppError {
  return notFound('This link no longer works: it was used or revoked, or it has expired. Ask for a new one.')
}
