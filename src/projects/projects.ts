import { eq, or, sql } from 'drizzle-orm'
import type { AuditTrail, By } from '../console/audit.ts'
import { isTaken } from '../db/constraint.ts'
import type { ReadDatabase } from '../db/reader.ts'
import { members, projects } from '../db/schema.ts'
import { createWordTables } from '../db/word-tables.ts'
import type { WriteDatabase } from '../db/writer.ts'
import { AppError, invalidRequest } from '../errors.ts'
import { newId } from '../ids.ts'

const nameCharsMax = 200

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
  audit: Pick<AuditTrail, 'entry'>
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

export class Projects {
  readonly #read: ReadDatabase
  readonly #write: WriteDatabase
  readonly #audit: Pick<AuditTrail, 'entry'>
  readonly #now: () => number

  constructor({ read, write, audit, now }: ProjectsOptions) {
    this.#read = read
    this.#write = write
    this.#audit = audit
    this.#now = now
  }

  /** @throws invalid_request when the name is blank, too long or taken. */
  async create(name: string, options: NewProject = {}): Promise<Project> {
    const problem = nameProblem(name)
    if (problem) throw invalidRequest([{ field: 'name', message: problem }])
    for (;;) {
      const outcome = await this.#insert(name, options)
      if (outcome === 'name taken')
        throw invalidRequest([{ field: 'name', message: 'is taken by another project' }])
      if (outcome !== 'id taken') return outcome
    }
  }

  /** The project `name` on a database that has none; null when there is one, or another process was first. */
  async createFirst(name: string): Promise<Project | null> {
    if ((await this.list()).length > 0) return null
    const outcome = await this.#insert(name, {})
    return typeof outcome === 'string' ? null : outcome
  }

  async list(): Promise<Project[]> {
    return await this.#read.select(columns).from(projects).orderBy(projects.id)
  }

  /** @param projectId of a project that there is, such as that of a key */
  async get(projectId: number): Promise<Project> {
    const [found] = await this.#read.select(columns).from(projects).where(eq(projects.id, projectId))
    if (!found) throw new Error('A key belongs to a project')
    return found
  }

  /** @param idOrName an id wins over a name that looks like it. */
  async find(idOrName: string): Promise<Project> {
    const found = await this.#read
      .select(columns)
      .from(projects)
      .where(or(eq(projects.publicId, idOrName), eq(projects.name, idOrName)))
      .orderBy(sql`${projects.publicId} = ${idOrName} desc`)
      .limit(1)
    if (found[0]) return found[0]
    throw new AppError('not_found', 'Not found', {
      detail: `There is no project with the id or name ${idOrName}.`,
    })
  }

  /** A project comes with its word tables, or not at all, so its id is chosen before they are named after it. */
  async #insert(
    name: string,
    { ownerId = null, by }: NewProject,
  ): Promise<Project | 'name taken' | 'id taken'> {
    const [last] = await this.#write.all<{ seq: number }>(
      sql`select seq from sqlite_sequence where name = 'projects'`,
    )
    const [projectId, createdAt] = [(last?.seq ?? 0) + 1, this.#now()]
    const project = { projectId, id: newId('prj'), name, createdAt }
    const values = { id: projectId, publicId: project.id, name, createdAt }
    try {
      await this.#write.batch([
        this.#write.insert(projects).values(values),
        this.#write.run(this.#audit.entry({ by, projectId, action: 'project_created', target: name })),
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
}

function nameProblem(name: string): string | null {
  if (name.trim() === '') return 'must not be blank'
  if ([...name].length > nameCharsMax) return `must be at most ${nameCharsMax} characters`
  if (!name.isWellFormed() || name.includes('\0')) return 'must be Unicode text without U+0000'
  return null
}
