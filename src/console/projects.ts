import { AppError } from '../errors.ts'
import type { SignedIn } from '../http/console-context.ts'
import type { Projects } from '../projects/projects.ts'
import type { ProjectOfPerson } from './answers.ts'
import { byPerson } from './audit.ts'
import type { Members } from './people/members.ts'
import type { People } from './people/people.ts'

interface ConsoleProjectsOptions {
  projects: Pick<Projects, 'create'>
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
    const createdAt = new Date(project.createdAt).toISOString()
    return { id: project.id, name: project.name, role: 'owner', createdAt }
  }
}
