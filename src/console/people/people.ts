import { and, asc, eq, isNull } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { members, people, projects } from '../../db/schema.ts'
import type { WriteDatabase } from '../../db/writer.ts'
import { AppError, invalidRequest } from '../../errors.ts'
import type { SignedIn } from '../../http/console-context.ts'
import { nameProblem } from '../../validation.ts'
import type { Person, Role } from '../answers.ts'
import { type AuditTrail, byPerson } from '../audit.ts'
import { normalizeEmail } from './new-person.ts'
import { findConsoleOwner } from './set-up.ts'

/** A person as whoever runs the service sees them. */
export interface PersonOverall extends Person {
  projects: { id: string; name: string; role: Role }[]
}

interface PeopleOptions {
  read: ReadDatabase
  write: WriteDatabase
  audit: Pick<AuditTrail, 'entry'>
  now: () => number
}

/** Everybody who may sign in, whatever they are in. */
export class People {
  readonly #options: PeopleOptions
  readonly #read: ReadDatabase

  constructor(options: PeopleOptions) {
    this.#options = options
    this.#read = options.read
  }

  /** @throws invalid_request when the name is blank or too long */
  async rename(person: SignedIn, name: string, address: string | null): Promise<Person> {
    const { write, audit, now } = this.#options
    const problem = nameProblem(name)
    if (problem) throw invalidRequest([{ field: 'name', message: problem }])
    const renamed = { name: name.trim(), updatedAt: new Date(now()) }
    const by = byPerson(person, address)
    await write.batch([
      write.update(people).set(renamed).where(eq(people.id, person.personId)),
      write.run(audit.entry({ by, projectId: null, action: 'person_renamed', target: renamed.name })),
    ])
    return { id: person.personId, name: renamed.name, email: person.email }
  }

  /** In the order in which they came. */
  async list(): Promise<PersonOverall[]> {
    const rows = await this.#read
      .select({
        id: people.id,
        name: people.name,
        email: people.email,
        projectId: projects.publicId,
        projectName: projects.name,
        role: members.role,
      })
      .from(people)
      .leftJoin(members, eq(members.personId, people.id))
      .leftJoin(projects, and(eq(projects.id, members.projectId), isNull(projects.deletedAt)))
      .orderBy(asc(people.createdAt), asc(people.id), asc(projects.name))
    const byId = new Map<string, PersonOverall>()
    for (const { id, name, email, projectId, projectName, role } of rows) {
      const person = byId.get(id) ?? { id, name, email, projects: [] }
      if (projectId && projectName && role) person.projects.push({ id: projectId, name: projectName, role })
      byId.set(id, person)
    }
    return [...byId.values()]
  }

  /** @throws not_found when nobody has the e-mail address */
  async find(email: string): Promise<Person> {
    const [person] = await this.#read
      .select({ id: people.id, name: people.name, email: people.email })
      .from(people)
      .where(eq(people.email, normalizeEmail(email)))
    if (person) return person
    throw new AppError('not_found', 'Not found', { detail: `Nobody has the e-mail address ${email}.` })
  }

  /** The id of the person who set the console up; null before. */
  consoleOwner(): Promise<string | null> {
    return findConsoleOwner(this.#read)
  }
}
