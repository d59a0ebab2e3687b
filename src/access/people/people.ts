import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { personLabelSql } from '../../audit/audit-trail.ts'
import type { Core } from '../../core/core.ts'
import { readMeta } from '../../db/meta.ts'
import { consoleOwnerName, isConsoleOwner, personIdOf, type Requirement } from '../../db/requirements.ts'
import { invitations, members, meta, people, projects, verifications } from '../../db/schema.ts'
import { AppError, consoleOwnerOnly, invalidRequest, notFound, refuseFields } from '../../errors.ts'
import type { ActedBy, Role, SignedIn } from '../../identity.ts'
import { nameProblem } from '../../validation.ts'
import { findPerson, type Person } from './credentials.ts'
import { hasOtherOwner } from './members.ts'
import { findConsoleOwner, setupHashName } from './set-up.ts'
import { createLinkToken, hashToken } from './token.ts'

/** A person as the console's owner sees them. */
export interface Account extends Person {
  ownsConsole: boolean
  hasTwoFactor: boolean
}

/** A person as the operator of the service sees them. */
interface PersonOverall extends Account {
  projects: { id: string; name: string; role: Role }[]
}

/** Everybody who can sign in, in any project or none. */
export class People {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** @throws invalid_request when the name is blank or too long */
  async rename(person: SignedIn, name: string, by: ActedBy): Promise<Person> {
    const { write, audit, now } = this.#core
    refuseFields({ name: nameProblem(name) })
    const renamed = { name: name.trim(), updatedAt: new Date(now()) }
    await write.batch({
      renamed: write.update(people).set(renamed).where(eq(people.id, person.personId)),
      entry: audit.entry({ by, projectId: null, action: 'person_renamed', target: renamed.name }),
    })
    return { id: person.personId, name: renamed.name, email: person.email }
  }

  /** Returns all people, the oldest account first. */
  async list(): Promise<PersonOverall[]> {
    const rows = await this.#core.read
      .select({
        id: people.id,
        name: people.name,
        email: people.email,
        hasTwoFactor: people.twoFactorEnabled,
        projectId: projects.publicId,
        projectName: projects.name,
        role: members.role,
      })
      .from(people)
      .leftJoin(members, eq(members.personId, people.id))
      .leftJoin(projects, and(eq(projects.id, members.projectId), isNull(projects.deletedAt)))
      .orderBy(asc(people.createdAt), asc(people.id), asc(projects.name))
    const owner = await this.consoleOwner()
    const byId = new Map<string, PersonOverall>()
    for (const { projectId, projectName, role, ...account } of rows) {
      const { id } = account
      const person = byId.get(id) ?? { ...account, ownsConsole: id === owner, projects: [] }
      if (projectId && projectName && role) person.projects.push({ id: projectId, name: projectName, role })
      byId.set(id, person)
    }
    return [...byId.values()]
  }

  async accounts(): Promise<Account[]> {
    return (await this.list()).map(({ projects: _projects, ...account }) => account)
  }

  /**
   * Deletes a person with their sessions, memberships and invitations. The keys they created and their entries in the
   * audit trail stay.
   * @throws forbidden unless `by` owns the console; invalid_request for the last owner of a project, and for oneself;
   * not_found
   */
  async delete(personId: string, by?: ActedBy): Promise<{ id: string; deleted: true }> {
    if (personIdOf(by) === personId) {
      const message = 'is your own. Only whoever runs Callbook can delete it, on the command line'
      throw invalidRequest([{ field: 'id', message }])
    }
    const { write, audit } = this.#core
    const target = personLabelSql(personId)
    const { deleted } = await write.batchIf([ownsConsole(by), ownsNothingAlone(personId)], {
      entries: audit.entriesAbout(personId, { by, action: 'person_deleted', target }),
      deleted: write.delete(people).where(eq(people.id, personId)),
      invitations: write.delete(invitations).where(eq(invitations.createdBy, personId)),
      verifications: write.delete(verifications).where(eq(verifications.value, personId)),
      owner: write.delete(meta).where(and(eq(meta.name, consoleOwnerName), eq(meta.value, personId))),
    })
    if (deleted.rowsAffected > 0) return { id: personId, deleted: true }
    throw notFound('There is no such person.')
  }

  /** @throws not_found when nobody has the email address */
  async find(email: string): Promise<Person> {
    const person = await findPerson(this.#core.read, email)
    if (person) return person
    throw notFound(`No one has the email address ${email}.`)
  }

  /** The token of the first set-up link; null if there already is a link or an owner. */
  async createSetUpLink(): Promise<string | null> {
    if ((await readMeta(this.#core.read, 'console_')).size > 0) return null
    return await this.#insertLink(sql`nothing`)
  }

  /** The token of a new set-up link, which replaces the previous one. @throws invalid_request when the console has an owner */
  async replaceSetUpLink(): Promise<string> {
    const token = await this.#insertLink(sql`update set value = excluded.value`)
    if (token !== null) return token
    throw new AppError('invalid_request', 'Invalid request', {
      detail:
        'The console already has an owner. Run `person list` to see who. Only a console without an owner can be set up.',
    })
  }

  /** Null when the console has an owner, whom a replica may not know yet, or where `onConflict` keeps the link that there is. */
  async #insertLink(onConflict: SQL): Promise<string | null> {
    const token = createLinkToken()
    const result = await this.#core.write.run(sql`
      insert into ${meta} (name, value) select ${setupHashName}, ${hashToken(token)}
      where not exists (select 1 from ${meta} where name = ${consoleOwnerName})
      on conflict do ${onConflict}`)
    return result.rowsAffected > 0 ? token : null
  }

  /** The id of the person who set the console up; null before that. */
  consoleOwner(): Promise<string | null> {
    return findConsoleOwner(this.#core.read)
  }
}

function ownsConsole(by: ActedBy | undefined): Requirement {
  return { condition: by ? isConsoleOwner(personIdOf(by)) : sql`true`, otherwise: consoleOwnerOnly }
}

function ownsNothingAlone(personId: string): Requirement {
  const message =
    "belongs to a project's last owner: make another person an owner of that project first, or delete the project"
  return {
    condition: sql`not exists (
      select 1 from ${members} as own where own.person_id = ${personId} and own.role = 'owner'
        and not ${hasOtherOwner(sql`own.project_id`, personId)})`,
    otherwise: () => invalidRequest([{ field: 'id', message }]),
  }
}
