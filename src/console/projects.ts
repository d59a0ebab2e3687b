import { type SQL, sql } from 'drizzle-orm'
import type { Requirement } from '../db/requirements.ts'
import { members } from '../db/schema.ts'
import { AppError } from '../errors.ts'
import { byPerson, type Membership, type SignedIn } from '../identity.ts'
import type { Project, Projects } from '../projects/projects.ts'
import type { ProjectOfPerson } from './people/session-answer.ts'
import { isConsoleOwner } from './people/set-up.ts'

/** The command line may make more for one person. */
const projectsPerOwnerMax = 100

interface ConsoleProjectsOptions {
  projects: Pick<Projects, 'create' | 'rename' | 'remove'>
}

/** What a person does with projects as a whole. */
export class ConsoleProjects {
  readonly #options: ConsoleProjectsOptions

  constructor(options: ConsoleProjectsOptions) {
    this.#options = options
  }

  /**
   * Whoever owns a project, or the console, may make another project, and owns it.
   * @throws forbidden for others, and for whoever owns too many; invalid_request when the name is no good
   */
  async create(person: SignedIn, name: string, address: string | null): Promise<ProjectOfPerson> {
    const { personId } = person
    const project = await this.#options.projects.create(name, {
      ownerId: personId,
      by: byPerson(person, address),
      requirements: [mayCreate(personId), ownsFew(personId)],
    })
    return toProjectOfPerson(project)
  }

  /** @throws invalid_request when the name is blank, too long or taken. */
  async rename(
    person: SignedIn,
    { projectId }: Membership,
    name: string,
    address: string | null,
  ): Promise<ProjectOfPerson> {
    const project = await this.#options.projects.rename(projectId, name, byPerson(person, address))
    return toProjectOfPerson(project)
  }

  /** For good. @throws invalid_request unless `confirm` is the project's name */
  remove(
    person: SignedIn,
    { projectId }: Membership,
    confirm: string,
    address: string | null,
  ): Promise<{ id: string; deleted: true }> {
    return this.#options.projects.remove(projectId, { confirm, by: byPerson(person, address) })
  }
}

function mayCreate(personId: string): Requirement {
  return {
    condition: sql`${projectsOwnedBy(personId)} > 0 or ${isConsoleOwner(personId)}`,
    otherwise: () =>
      new AppError('forbidden', 'Forbidden', { detail: 'Only an owner of a project may create another.' }),
  }
}

function ownsFew(personId: string): Requirement {
  return {
    condition: sql`${projectsOwnedBy(personId)} < ${projectsPerOwnerMax}`,
    otherwise: () =>
      new AppError('forbidden', 'Forbidden', {
        detail:
          `You own ${projectsPerOwnerMax} projects, the most that one person may make in the console. ` +
          'Delete one first, or ask whoever runs Callbook for another.',
      }),
  }
}

function projectsOwnedBy(personId: string): SQL {
  return sql`(select count(*) from ${members} where person_id = ${personId} and role = 'owner')`
}

/** A project of one of its owners. */
function toProjectOfPerson({ id, name, createdAt }: Project): ProjectOfPerson {
  return { id, name, role: 'owner', createdAt: new Date(createdAt).toISOString() }
}
