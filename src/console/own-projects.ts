import { type SQL, sql } from 'drizzle-orm'
import type { Requirement } from '../db/requirements.ts'
import { members } from '../db/schema.ts'
import { AppError } from '../errors.ts'
import type { By } from '../identity.ts'
import type { Project, Projects } from '../projects/projects.ts'
import type { ProjectOfPerson } from './people/session-answer.ts'
import { isConsoleOwner } from './people/set-up.ts'

/** The command line has no such limit. */
const projectsPerOwnerMax = 100

/**
 * Creates a project that the person owns. Only an owner of a project, or of the console, may. @throws forbidden for
 * others, and at the limit; invalid_request for a bad name
 */
export async function createOwnProject(
  projects: Pick<Projects, 'create'>,
  personId: string,
  name: string,
  by: By,
): Promise<ProjectOfPerson> {
  const requirements = [mayCreate(personId), ownsFew(personId)]
  return asOwner(await projects.create(name, { ownerId: personId, by, requirements }), {
    membersMayDelete: true,
    timeZone: null,
  })
}

/** A project as its owner sees it. */
export function asOwner(
  { id, name, createdAt }: Project,
  { membersMayDelete, timeZone }: Pick<ProjectOfPerson, 'membersMayDelete' | 'timeZone'>,
): ProjectOfPerson {
  return { id, name, role: 'owner', membersMayDelete, timeZone, createdAt: new Date(createdAt).toISOString() }
}

function mayCreate(personId: string): Requirement {
  return {
    condition: sql`${projectsOwnedBy(personId)} > 0 or ${isConsoleOwner(personId)}`,
    otherwise: () =>
      new AppError('forbidden', 'Forbidden', {
        detail: 'Only someone who owns a project can create another.',
      }),
  }
}

function ownsFew(personId: string): Requirement {
  return {
    condition: sql`${projectsOwnedBy(personId)} < ${projectsPerOwnerMax}`,
    otherwise: () =>
      new AppError('forbidden', 'Forbidden', {
        detail:
          `You already own ${projectsPerOwnerMax} projects, the most that one person can own in the console. ` +
          'Delete one first, or ask whoever runs Callbook to create another.',
      }),
  }
}

function projectsOwnedBy(personId: string): SQL {
  return sql`(select count(*) from ${members} where person_id = ${personId} and role = 'owner')`
}
