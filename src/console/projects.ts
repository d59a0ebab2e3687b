import { type SQL, sql } from 'drizzle-orm'
import type { ProjectOfPerson } from '../access/people/session-answer.ts'
import type { Retention } from '../calls/keeping/retention.ts'
import type { ProjectSettings, SettingsOf } from '../db/project-settings.ts'
import { isConsoleOwner, type Requirement } from '../db/requirements.ts'
import { members } from '../db/schema.ts'
import { forbidden, invalidRequest } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import type { Project, Projects } from '../projects/projects.ts'
import type { SettingsChange } from '../projects/schemas.ts'
import type { Settings } from '../projects/settings.ts'

/** The console's owner, and the command line, have no such limit. */
const projectsPerOwnerMax = 100

/**
 * Creates a project that the person owns. Only an owner of a project, or of the console, may. @throws forbidden for
 * others, and at the limit; invalid_request for a bad name
 */
export async function createOwnProject(
  projects: Pick<Projects, 'create'>,
  personId: string,
  name: string,
  by: ActedBy,
): Promise<ProjectOfPerson> {
  const requirements = mayOwnOneMore(personId)
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
  const own = { role: 'owner', membersMayDelete, timeZone, firstView: null, views: 0, calls: 0 } as const
  return { id, name, ...own, createdAt: new Date(createdAt).toISOString() }
}

/** What is required of a person who creates a project. */
export function mayOwnOneMore(personId: string): Requirement[] {
  return [mayCreate(personId), ownsFew(personId)]
}

function mayCreate(personId: string): Requirement {
  return {
    condition: sql`${projectsOwnedBy(personId)} > 0 or ${isConsoleOwner(personId)}`,
    otherwise: () => forbidden('Only someone who owns a project can create another.'),
  }
}

function ownsFew(personId: string): Requirement {
  return {
    condition: sql`${projectsOwnedBy(personId)} < ${projectsPerOwnerMax} or ${isConsoleOwner(personId)}`,
    otherwise: () =>
      forbidden(
        `You already own ${projectsPerOwnerMax} projects, the most that one person can own in the console. ` +
          'Delete one first, or ask whoever runs Callbook to create another.',
      ),
  }
}

function projectsOwnedBy(personId: string): SQL {
  return sql`(select count(*) from ${members} where person_id = ${personId} and role = 'owner')`
}

export interface PrivacyParts {
  settings: Settings
  settingsOf: SettingsOf
  retention: Retention
}

/**
 * Changes settings for a person, who has typed how many calls a shorter retention deletes.
 * @param change.confirm that number
 * @throws invalid_request for another number than there are, and naming each bad field; forbidden for others than owners
 */
export async function changeSettings(
  { settings, settingsOf, retention }: PrivacyParts,
  projectId: number,
  { confirm, ...change }: SettingsChange & { confirm?: number },
  by: ActedBy,
): Promise<ProjectSettings> {
  const { retainDays } = change
  const currentDays = (await settingsOf(projectId)).retainDays
  if (typeof retainDays === 'number' && (currentDays === null || retainDays < currentDays)) {
    const due = await retention.countDue(projectId, retainDays)
    if (due !== (confirm ?? 0)) {
      const message = `must be ${due}, the number of calls that this deletes`
      throw invalidRequest([{ field: 'confirm', message }])
    }
  }
  const changed = await settings.change(projectId, change, by)
  if (retainDays !== undefined) retention.schedule()
  return changed
}

/** How many calls are deleted next, or would be if calls were kept for so many days. */
export async function countDue(
  { settingsOf, retention }: PrivacyParts,
  projectId: number,
  days: string | undefined,
): Promise<{ calls: number }> {
  const retainDays = days ? Number(days) : (await settingsOf(projectId)).retainDays
  return { calls: retainDays === null ? 0 : await retention.countDue(projectId, retainDays) }
}
