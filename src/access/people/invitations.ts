import { and, desc, eq, gt, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { isConsoleOwner, ownsProject, personIdOf, type Requirement } from '../../db/requirements.ts'
import { invitations, members, people, projects } from '../../db/schema.ts'
import { type AppError, forbidden, invalidRequest, notFound } from '../../errors.ts'
import { type ActedBy, personLabel, type Role } from '../../identity.ts'
import { newId } from '../../ids.ts'
import { type Person, refusePasswords } from './credentials.ts'
import type { People } from './people.ts'
import { findConsoleOwner } from './set-up.ts'
import { createLinkToken, hashToken } from './token.ts'

const invitationMs = 7 * 86_400_000
const passwordLinkMs = 86_400_000
const openMax = 100

/** An open invitation, as owners see it. */
export type InvitationRow = ReturnType<typeof toRow>

/** A new link to a new password: the only answer that holds it. */
export interface PasswordLink {
  email: string
  link: string
  expiresAt: string
}

/** A new invitation: the only answer that holds the link. */
export interface CreatedInvitation extends InvitationRow {
  link: string
}

interface InvitationsParts {
  people: Pick<People, 'find'>
}

/** The name of the person who created an invitation. */
export const inviterName = sql<string | null>`(select name from people where people.id = created_by)`
const columns = {
  id: invitations.id,
  role: invitations.role,
  createdBy: inviterName,
  createdAt: invitations.createdAt,
  expiresAt: invitations.expiresAt,
}

/** Creates and revokes one-time links. A link is shown once; only the hash of its token is stored. */
export class Invitations {
  readonly #parts: Core & InvitationsParts

  constructor(core: Core, parts: InvitationsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Returns the open invitations, newest first. */
  async list(projectId: number): Promise<InvitationRow[]> {
    const rows = await this.#parts.read
      .select(columns)
      .from(invitations)
      .where(and(eq(invitations.projectId, projectId), gt(invitations.expiresAt, this.#parts.now())))
      .orderBy(desc(invitations.createdAt), desc(invitations.id))
    return rows.map(toRow)
  }

  /**
   * @param baseUrl PUBLIC_URL, or the origin of the request that asks for the link
   * @throws forbidden unless `by` owns the project; invalid_request when too many are open
   */
  async create(projectId: number, role: Role, baseUrl: string, by?: ActedBy): Promise<CreatedInvitation> {
    const { write, audit, now } = this.#parts
    const token = createLinkToken()
    const [id, createdAt, expiresAt] = [newId('inv'), now(), now() + invitationMs]
    const values = {
      id,
      projectId,
      role,
      tokenHash: hashToken(token),
      createdBy: personIdOf(by),
      createdAt,
      expiresAt,
    }
    const message = `cannot be granted: the project already has ${openMax} open invitations. Revoke some first`
    const isRoom = {
      condition: sql`(
        select count(*) from ${invitations} where project_id = ${projectId} and expires_at > ${createdAt}) < ${openMax}`,
      otherwise: () => invalidRequest([{ field: 'role', message }]),
    }
    const { created } = await write.batchIf([ownsProject(projectId, by), isRoom], {
      expired: sql`delete from ${invitations} where expires_at <= ${createdAt}`,
      created: write.insert(invitations).values(values).returning(columns),
      entry: audit.entry({ by, projectId, action: 'invitation_created', target: role }),
    })
    if (!created[0]) throw new Error('An invitation that is inserted is returned')
    return { ...toRow(created[0]), link: `${baseUrl}/console/join#${token}` }
  }

  /** @throws forbidden unless `by` owns the project; not_found */
  async revoke(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; revoked: true }> {
    const { write, audit } = this.#parts
    const { revoked } = await write.batchIf([ownsProject(projectId, by)], {
      revoked: write
        .delete(invitations)
        .where(and(eq(invitations.id, id), eq(invitations.projectId, projectId)))
        .returning({ role: invitations.role }),
      entry: audit.entry({ by, projectId, action: 'invitation_revoked', target: null }),
    })
    if (revoked.length === 0) throw notFound('There is no such open invitation.')
    return { id, revoked: true }
  }

  /**
   * A link that sets a new password. @throws not_found when nobody has the email address; forbidden where passwords are
   * not accepted, unless the person owns the console
   */
  async createPasswordLink(email: string, baseUrl: string): Promise<PasswordLink> {
    const person = await this.#parts.people.find(email)
    // The command line has no identity; as the person's own event it appears in their projects' trails.
    const by = { actor: { id: person.id, name: null }, address: null }
    return await this.#createPasswordLink(person, baseUrl, { by, projectId: null, requirements: [] })
  }

  /**
   * The same, created by an owner of a project for one of its people. It works as long as `by` may create such a link.
   * @throws not_found; invalid_request for oneself; forbidden unless `by` owns the console, or the project and every
   * other project that the person is in: whoever has the link has that person's access
   */
  async createSignInLink(
    projectId: number,
    personId: string,
    baseUrl: string,
    by: ActedBy,
  ): Promise<PasswordLink> {
    const [person] = await this.#parts.read
      .select({ id: people.id, name: people.name, email: people.email })
      .from(members)
      .innerJoin(people, eq(people.id, members.personId))
      .where(and(eq(members.projectId, projectId), eq(members.personId, personId)))
    if (!person) throw notFound('This person is not in this project.')
    if (personIdOf(by) === personId) {
      throw invalidRequest([{ field: 'id', message: 'is your own. Change your password under Account' }])
    }
    const reaches = { condition: mayMakeLinkFor(personId, personIdOf(by)), otherwise: reachesMore }
    const requirements = [ownsProject(projectId, by), reaches]
    return await this.#createPasswordLink(person, baseUrl, { by, projectId, requirements })
  }

  async #createPasswordLink(
    person: Person,
    baseUrl: string,
    { by, projectId, requirements }: { by: ActedBy; projectId: number | null; requirements: Requirement[] },
  ): Promise<PasswordLink> {
    const { write, audit, now } = this.#parts
    // Null for the command line.
    const createdBy = projectId === null ? null : personIdOf(by)
    await refuseLinks(this.#parts, person.id, createdBy)
    const token = createLinkToken()
    const [createdAt, expiresAt] = [now(), now() + passwordLinkMs]
    const target = personLabel(person)
    const values = {
      id: newId('inv'),
      personId: person.id,
      tokenHash: hashToken(token),
      createdBy,
      createdAt,
      expiresAt,
    }
    await write.batchIf(requirements, {
      created: write.insert(invitations).values(values),
      entry: audit.entry({ by, projectId, action: 'password_link_created', target, targetRef: person.id }),
    })
    return {
      email: person.email,
      expiresAt: new Date(expiresAt).toISOString(),
      link: `${baseUrl}/console/reset#${token}`,
    }
  }
}

/** @throws forbidden where passwords are not accepted, except for what the command line does for the console's owner */
export async function refuseLinks(
  { read, config }: Pick<Core, 'read' | 'config'>,
  personId: string,
  createdBy: string | null,
): Promise<void> {
  if (createdBy !== null || personId !== (await findConsoleOwner(read))) refusePasswords(config.oidc)
}

/** Whether the creator owns the console, or owns every project of the person, who does not own the console. */
function mayMakeLinkFor(personId: string | SQL, creatorId: string | SQL | null): SQL {
  const isForeign = sql`exists (
    select 1 from ${members} as theirs join ${projects} on projects.id = theirs.project_id
    where theirs.person_id = ${personId} and projects.deleted_at is null and not exists (
      select 1 from ${members} as own
      where own.project_id = theirs.project_id and own.person_id = ${creatorId} and own.role = 'owner'))`
  return sql`(${isConsoleOwner(creatorId)} or not (${isConsoleOwner(personId)} or ${isForeign}))`
}

/** Whether who made a row of `invitations` may still make it. An invitation is revoked with its owner's role instead. */
export const isStillAllowed = sql`(invitations.person_id is null or invitations.created_by is null
  or ${mayMakeLinkFor(sql`invitations.person_id`, sql`invitations.created_by`)})`

function reachesMore(): AppError {
  return forbidden(
    'This person is also in a project that you do not own, or owns the console. Ask the console’s owner, ' +
      'or whoever runs Callbook, for a link.',
  )
}

function toRow(row: Omit<typeof invitations.$inferSelect, 'projectId' | 'personId' | 'tokenHash'>) {
  return {
    ...row,
    role: row.role ?? 'member',
    createdAt: new Date(row.createdAt).toISOString(),
    expiresAt: new Date(row.expiresAt).toISOString(),
  }
}
