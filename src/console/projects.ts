import { AppError } from '../errors.ts'
import type { Membership, SignedIn } from '../http/console-context.ts'
import type { Project, Projects } from '../projects/projects.ts'
import type { ProjectOfPerson } from './answers.ts'
import { byPerson } from './audit.ts'
import type { Members } from './people/members.ts'
import type { People } from './people/people.ts'

interface ConsoleProjectsOptions {
  projects: Pick<Projects, 'create' | 'rename' | 'remove'>
  members: Members
  people: People
}

/** What a person does with projects as a whole. */
export class ConsoleProjects {
  readonly #options: ConsoleProjectsOptions

  constructor(options: ConsoleProjectsOptions) {
    this.#options = options
  }

  /** Whoever owns a project, or has set the console up, may make another one, and owns it. @throws forbidden */
  async create(person: SignedIn, name: string, address: string | null): Promise<ProjectOfPerson> {
    const { projects, members, people } = this.#options
    const { personId } = person
    const mayCreate = (await members.isOwner(personId)) || (await people.consoleOwner()) === personId
    if (!mayCreate)
      throw new AppError('forbidden', 'Forbidden', {
        detail: 'Only an owner of a project may create another.',
      })
    const project = await projects.create(name, { ownerId: personId, by: byPerson(person, address) })
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

/** A project of one of its owners. */
function toProjectOfPerson({ id, name, createdAt }: Project): ProjectOfPerson {
  return { id, name, role: 'owner', createdAt: new Date(createdAt).toISOString() }
}
