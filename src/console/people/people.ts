import { and, asc, eq, isNull } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { members, people, projects } from '../../db/schema.ts'
import { AppError } from '../../errors.ts'
import type { Person, Role } from '../answers.ts'
import { normalizeEmail } from './new-person.ts'
import { findConsoleOwner } from './set-up.ts'

/** A person as whoever runs the service sees them. */
export interface PersonOverall extends Person {
  projects: { id: string; name: string; role: Role }[]
}

/** Everybody who may sign in, whatever they are in. */
export class People {
  readonly #read: ReadDatabase

  constructor(read: ReadDatabase) {
    this.#read = read
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
