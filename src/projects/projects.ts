import { and, eq, isNull, or, sql } from 'drizzle-orm'
import type { AuditTrail, By } from '../console/audit.ts'
import { isTaken } from '../db/constraint.ts'
import type { ReadDatabase } from '../db/reader.ts'
import type { RecordHash } from '../db/record-hash.ts'
import { invitations, keys, members, projectErasures, projects } from '../db/schema.ts'
import { projectWasDeleted } from '../db/store.ts'
import { createWordTables } from '../db/word-tables.ts'
import type { WriteDatabase } from '../db/writer.ts'
import { AppError, invalidRequest } from '../errors.ts'
import { newId } from '../ids.ts'
import { nameProblem } from '../validation.ts'

export interface Project {
  /** Names the project inside the database; never shown. */
  readonly projectId: number
  /** `prj_…`: the project's id as people and commands see it. */
  readonly id: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

interface ProjectsOptions {
  read: ReadDatabase
  write: WriteDatabase
  /** For deleting a project, which is possible also on a full disk. */
  freeing: WriteDatabase
  audit: Pick<AuditTrail, 'entry'>
  recordHash: RecordHash
  /** Told of each deletion once it is committed; takes what is in the project out of every file. */
  onRemoved: (projectId: number) => void
  now: () => number
}

/** Whose a new project is, and who makes it. */
interface NewProject {
  /** A person's id; null for a project that is reached by keys and the command line alone. */
  ownerId?: string | null
  by?: By | undefined
}

const columns = {
  projectId: projects.id,
  id: projects.publicId,
  name: projects.name,
  createdAt: projects.createdAt,
}
const isThere = isNull(projects.deletedAt)

/** Whose calls and whose knowledge: each key belongs to one project. */
export class Projects {
  readonly #options: ProjectsOptions
  readonly #read: ReadDatabase
  readonly #write: WriteDatabase

  constructor(options: ProjectsOptions) {
    this.#options = options
    this.#read = options.read
    this.#write = options.write
  }

  /** @throws invalid_request when the name is blank, too long or taken. */
  async create(name: string, options: NewProject = {}): Promise<Project> {
    checkName(name)
    for (;;) {
      const outcome = await this.#insert(name, options)
      if (outcome === 'name taken') throw nameTaken()
      if (outcome !== 'id taken') return outcome
    }
  }

  /** The project `name` on a database that never had one; null when it had, or another process was first. */
  async createFirst(name: string): Promise<Project | null> {
    // What a replica knows it need not ask its primary, which may be away.
    if ((await this.#lastId(this.#read)) > 0 || (await this.#lastId()) > 0) return null
    const outcome = await this.#insert(name, {})
    return typeof outcome === 'string' ? null : outcome
  }

  async list(): Promise<Project[]> {
    return await this.#read.select(columns).from(projects).where(isThere).orderBy(projects.id)
  }

  /** @param projectId of a project that there is, such as that of a key */
  async get(projectId: number): Promise<Project> {
    const [found] = await this.#read.select(columns).from(projects).where(isLive(projectId))
    if (!found) throw projectWasDeleted()
    return found
  }

  /** @param idOrName an id wins over a name that looks like it. */
  async find(idOrName: string): Promise<Project> {
    const found = await this.#read
      .select(columns)
      .from(projects)
      .where(and(or(eq(projects.publicId, idOrName), eq(projects.name, idOrName)), isThere))
      .orderBy(sql`${projects.publicId} = ${idOrName} desc`)
      .limit(1)
    if (found[0]) return found[0]
    throw noSuchProject(`There is no project with the id or name ${idOrName}.`)
  }

  /** @throws invalid_request when the name is blank, too long or taken. */
  async rename(projectId: number, name: string, by?: By): Promise<Project> {
    checkName(name)
    try {
      const [[renamed]] = await this.#write.batch([
        this.#write.update(projects).set({ name }).where(isLive(projectId)).returning(columns),
        this.#write.run(
          this.#options.audit.entry({ by, projectId, action: 'project_renamed', target: name }),
        ),
      ])
      if (renamed) return renamed
    } catch (error) {
      throw isTaken(error, 'projects.name') ? nameTaken() : error
    }
    throw noSuchProject()
  }

  /**
   * Deletes a project with all that is in it. When this returns, no request reaches it, its keys are gone, its name is
   * free, and that nothing of it will be left in any file is promised durably.
   * @param options.confirm what somebody typed to confirm it: the project's name
   */
  async remove(
    projectId: number,
    { confirm, by }: { confirm?: string; by?: By } = {},
  ): Promise<{ id: string; deleted: true }> {
    const [found] = await this.#read.select(columns).from(projects).where(isLive(projectId))
    if (!found) throw noSuchProject()
    if (confirm !== undefined && confirm !== found.name) {
      throw invalidRequest([{ field: 'confirm', message: "must be the project's name" }])
    }
    const { freeing } = this.#options
    const deletedAt = this.#options.now()
    const idHash = this.#options.recordHash(projectId, 'project', found.id)
    const [deleted] = await freeing.batch([
      // A name of its own, since names are unique, and one that nobody can have taken.
      freeing
        .update(projects)
        .set({ deletedAt, name: newId('prj') })
        .where(isLive(projectId))
        .returning({ projectId: projects.id }),
      // Of no project, since nobody is in this one any more to see it.
      freeing.run(
        this.#options.audit.entry({ by, projectId: null, action: 'project_deleted', target: idHash }),
      ),
      freeing
        .insert(projectErasures)
        .values({ projectId, idHash, requestedAt: deletedAt })
        .onConflictDoNothing(),
      freeing.delete(keys).where(eq(keys.projectId, projectId)),
      freeing.delete(members).where(eq(members.projectId, projectId)),
      freeing.delete(invitations).where(eq(invitations.projectId, projectId)),
    ])
    if (deleted.length === 0) throw noSuchProject()
    this.#options.onRemoved(projectId)
    return { id: found.id, deleted: true }
  }

  /** A project comes with its word tables, or not at all, so its id is chosen before they are named after it. */
  async #insert(
    name: string,
    { ownerId = null, by }: NewProject,
  ): Promise<Project | 'name taken' | 'id taken'> {
    const createdAt = this.#options.now()
    const project = { projectId: (await this.#lastId()) + 1, id: newId('prj'), name, createdAt }
    const { projectId } = project
    const values = { id: project.projectId, publicId: project.id, name, createdAt }
    try {
      await this.#write.batch([
        this.#write.insert(projects).values(values),
        this.#write.run(
          this.#options.audit.entry({ by, projectId, action: 'project_created', target: name }),
        ),
        this.#write.run(sql`
          insert into ${members} (project_id, person_id, role, created_at)
          select ${projectId}, ${ownerId}, 'owner', ${createdAt} where ${ownerId} is not null`),
        ...createWordTables(project.projectId).map((statement) => this.#write.run(statement)),
      ])
      return project
    } catch (error) {
      if (isTaken(error, 'projects.name')) return 'name taken'
      if (isTaken(error, 'projects.id')) return 'id taken'
      throw error
    }
  }

  /** The greatest that a project ever had: ids are never used twice. */
  async #lastId(db: Pick<ReadDatabase, 'all'> = this.#write): Promise<number> {
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

function nameTaken(): AppError {
  return invalidRequest([{ field: 'name', message: 'is taken by another project' }])
}

function noSuchProject(detail = 'There is no such project; it may have been deleted.'): AppError {
  return new AppError('not_found', 'Not found', { detail })
}
