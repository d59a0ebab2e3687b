import { and, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types'
import type { Core } from '../core/core.ts'
import { isTaken } from '../db/constraint.ts'
import type { ReadDatabase } from '../db/reader.ts'
import { ownsProject, personIdOf, type Requirement } from '../db/requirements.ts'
import { holds, invitations, keys, members, projectErasures, projects } from '../db/schema.ts'
import type { Statement } from '../db/write-database.ts'
import { AppError, invalidRequest, ProjectWasDeleted } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { newId } from '../ids.ts'
import { nameProblem } from '../validation.ts'

const projectsNamedMax = 20
const idsNamedMax = 10

const columns = {
  /** The project's internal id; never shown. */
  projectId: projects.id,
  id: projects.publicId,
  name: projects.name,
  createdAt: projects.createdAt,
}

export type Project = Readonly<SelectResultFields<typeof columns>>

interface ProjectsParts {
  /** Erases a deleted project's bytes from every file. */
  projectErasure: { schedule(projectId: number): void }
}

interface NewProject {
  /** A person's id; null for a project that only keys and the command line use. */
  ownerId?: string | null
  by?: ActedBy | undefined
  /** Further conditions for creating the project. */
  requirements?: readonly Requirement[]
  further?: readonly Statement[]
}

const isThere = isNull(projects.deletedAt)

/** The tenants: each key, call and knowledge item belongs to one project. */
export class Projects {
  readonly #parts: Core & ProjectsParts

  constructor(core: Core, parts: ProjectsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** @throws invalid_request when the name is blank, too long or taken by another project of the owner */
  async create(name: string, { ownerId = null, by, requirements = [] }: NewProject = {}): Promise<Project> {
    checkName(name)
    const all = [...requirements, isNameFree(name, ownerId)]
    for (;;) {
      const projectId = (await this.#lastId()) + 1
      const project = await this.#insert(projectId, name, { ownerId, by, requirements: all })
      if (project) return project
    }
  }

  /**
   * Creates a project unless the database has ever had one. Null when it has, or another process was first.
   * @param further statements that are part of it, asked for only if there is none
   */
  async createFirst(
    name: string,
    further: (projectId: number) => Promise<Statement[]> = async () => [],
  ): Promise<Project | null> {
    // Asks the replica first: the primary may be away.
    if ((await this.#lastId(this.#parts.read)) > 0 || (await this.#lastId()) > 0) return null
    return await this.#insert(1, name, { further: await further(1) })
  }

  async list(): Promise<Project[]> {
    return await this.#parts.read.select(columns).from(projects).where(isThere).orderBy(projects.id)
  }

  /** @throws unavailable when the project has been deleted */
  async get(projectId: number): Promise<Project> {
    const project = await this.#find(projectId)
    if (!project) throw new ProjectWasDeleted()
    return project
  }

  /**
   * @param idOrName an id takes precedence over a name
   * @throws not_found; invalid_request when several projects have the name
   */
  async find(idOrName: string): Promise<Project> {
    const matches = await this.#parts.read
      .select(columns)
      .from(projects)
      .where(and(or(eq(projects.publicId, idOrName), eq(projects.name, idOrName)), isThere))
      .orderBy(sql`${projects.publicId} = ${idOrName} desc`, projects.id)
      .limit(idsNamedMax)
    const [first] = matches
    if (!first) throw noSuchProject(`No project has the id or name ${idOrName}. ${await this.#there()}`)
    if (matches.length > 1 && first.id !== idOrName) {
      const ids = matches.map(({ id }) => id).join(', ')
      const detail = `Several projects are called ${idOrName}. Use the id of the one you mean: ${ids}.`
      throw new AppError('invalid_request', 'Invalid request', { detail })
    }
    return first
  }

  /** Which projects there are, in a sentence. */
  async #there(): Promise<string> {
    const some = await this.#parts.read
      .select(columns)
      .from(projects)
      .where(isThere)
      .limit(projectsNamedMax + 1)
    if (some.length === 0) return 'There are no projects yet.'
    const names = some.slice(0, projectsNamedMax).map(({ id, name }) => `${name} (${id})`)
    return `There are: ${names.join(', ')}${some.length > projectsNamedMax ? ' and more' : ''}.`
  }

  /**
   * @throws invalid_request when the name is blank, too long or taken by another project of the owner; forbidden unless
   * the actor owns the project
   */
  async rename(projectId: number, name: string, by?: ActedBy): Promise<Project> {
    checkName(name)
    const ownerId = by ? personIdOf(by) : firstOwner(projectId)
    const requirements = [ownsProject(projectId, by), isNameFree(name, ownerId, projectId)]
    const { write, audit } = this.#parts
    const { renamed } = await write.batchIf(requirements, {
      renamed: write.update(projects).set({ name }).where(isLive(projectId)).returning(columns),
      entry: audit.entry({ by, projectId, action: 'project_renamed', target: name }),
    })
    if (!renamed[0]) throw noSuchProject()
    return renamed[0]
  }

  /**
   * Deletes a project with everything in it. When this returns, no request reaches it, its name and keys are gone, and
   * the ledger ensures that its bytes are erased from every file.
   * @param options.confirm what a person typed to confirm the deletion: the project's name
   * @throws forbidden unless the actor owns the project, call_on_hold while it has holds
   */
  async delete(
    projectId: number,
    { confirm, by }: { confirm?: string; by?: ActedBy } = {},
  ): Promise<{ id: string; deleted: true }> {
    const project = await this.#find(projectId)
    if (!project) throw noSuchProject()
    if (confirm !== undefined && confirm !== project.name) {
      throw invalidRequest([{ field: 'confirm', message: "must be the project's name" }])
    }
    const { writeWhenFull, audit, recordHash, now, projectErasure } = this.#parts
    const deletedAt = now()
    const idHash = recordHash(projectId, 'project', project.id)
    const isFree = sql`not exists (select 1 from ${holds} where project_id = ${projectId})`
    const requirements = [ownsProject(projectId, by), { condition: isFree, otherwise: holdsCalls }]
    const { deleted } = await writeWhenFull.batchIf(requirements, {
      deleted: writeWhenFull
        .update(projects)
        .set({ deletedAt, name: '' })
        .where(isLive(projectId))
        .returning({ projectId: projects.id }),
      // Belongs to no project, since this one has no members left to see it.
      entry: audit.entry({ by, projectId: null, action: 'project_deleted', target: idHash }),
      ledger: writeWhenFull
        .insert(projectErasures)
        .values({ projectId, idHash, requestedAt: deletedAt })
        .onConflictDoNothing(),
      keys: writeWhenFull.delete(keys).where(eq(keys.projectId, projectId)),
      members: writeWhenFull.delete(members).where(eq(members.projectId, projectId)),
      invitations: writeWhenFull.delete(invitations).where(eq(invitations.projectId, projectId)),
    })
    if (deleted.length === 0) throw noSuchProject()
    projectErasure.schedule(projectId)
    return { id: project.id, deleted: true }
  }

  /**
   * The caller chooses the id, so that only one process makes the first project. Null when another process has just
   * taken it.
   */
  async #insert(
    projectId: number,
    name: string,
    { ownerId = null, by, requirements = [], further = [] }: NewProject = {},
  ): Promise<Project | null> {
    const { write, audit, now } = this.#parts
    const createdAt = now()
    const project = { projectId, id: newId('prj'), name, createdAt }
    const values = { id: projectId, publicId: project.id, name, createdAt }
    try {
      await write.batchIf(requirements, {
        created: write.insert(projects).values(values),
        entry: audit.entry({ by, projectId, action: 'project_created', target: name }),
        owner: sql`
            insert into ${members} (project_id, person_id, role, created_at)
            select ${projectId}, ${ownerId}, 'owner', ${createdAt} where ${ownerId} is not null`,
        further,
      })
      return project
    } catch (error) {
      if (isTaken(error, 'projects.id')) return null
      throw error
    }
  }

  async #find(projectId: number): Promise<Project | undefined> {
    const [project] = await this.#parts.read.select(columns).from(projects).where(isLive(projectId))
    return project
  }

  /** The highest id that a project has ever had: ids are never reused. */
  async #lastId(db: Pick<ReadDatabase, 'all'> = this.#parts.write): Promise<number> {
    const [last] = await db.all<{ seq: number }>(sql`select seq from sqlite_sequence where name = 'projects'`)
    return last?.seq ?? 0
  }
}

function isLive(projectId: number) {
  return and(eq(projects.id, projectId), isThere)
}

function checkName(name: string): void {
  const problem = nameProblem(name)
  if (problem) throw invalidRequest([{ field: 'name', message: problem }])
}

/**
 * Requires that no other project of the owner has the name; with null, that no other project without an owner has it.
 * Projects of other owners do not count, so that nobody learns their names.
 */
function isNameFree(name: string, ownerId: string | null | SQL, projectId = 0): Requirement {
  return {
    condition: sql`not exists (
      select 1 from ${projects} left join ${members} on project_id = ${projects.id} and role = 'owner'
      where ${projects.name} = ${name} and ${isThere} and ${projects.id} <> ${projectId} and person_id is ${ownerId})`,
    otherwise: () => invalidRequest([{ field: 'name', message: 'is taken by another project' }]),
  }
}

/** Null for a project without an owner. */
function firstOwner(projectId: number): SQL {
  return sql`(
    select person_id from ${members} where project_id = ${projectId} and role = 'owner' order by created_at limit 1)`
}

function noSuchProject(detail = 'There is no such project. It may have been deleted.'): AppError {
  return new AppError('not_found', 'Not found', { detail })
}

function holdsCalls(): AppError {
  return new AppError('call_on_hold', 'Call is on hold', {
    detail: 'The project has legal holds. Lift them before you delete it.',
  })
}
