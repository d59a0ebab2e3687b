import { randomBytes } from 'node:crypto'
import { and, asc, eq, or, type SQL, sql } from 'drizzle-orm'
import { callViews } from '../db/schema.ts'
import { AppError } from '../errors.ts'
import type { Membership } from '../identity.ts'
import type { PeopleOptions } from './people/options.ts'
import type { NewView } from './schemas.ts'

/** Of a project, all people together. */
const viewsMax = 500

/** Filters of the list of calls, kept under a name. */
export interface View {
  id: string
  name: string
  /** As in the page's address. */
  query: string
  isShared: boolean
  /** Whether the person who asks may delete it. */
  canDelete: boolean
}

type Viewer = Pick<Membership, 'projectId' | 'role'>

/** The views that people keep of a project's calls: for themselves, or for everybody in the project. */
export class Views {
  readonly #options: Pick<PeopleOptions, 'read' | 'write'>

  constructor(options: Pick<PeopleOptions, 'read' | 'write'>) {
    this.#options = options
  }

  /** Those that the person sees, by name. */
  async list({ projectId, role }: Viewer, personId: string): Promise<View[]> {
    const rows = await this.#options.read
      .select()
      .from(callViews)
      .where(
        and(eq(callViews.projectId, projectId), or(callViews.isShared, eq(callViews.personId, personId))),
      )
      .orderBy(asc(sql`lower(${callViews.name})`), asc(callViews.id))
    return rows.map(({ id, name, query, isShared, personId: keptBy }) => ({
      ...{ id, name, query, isShared },
      canDelete: keptBy === personId || role === 'owner',
    }))
  }

  /** @throws forbidden when the project has too many */
  async create({ projectId }: Viewer, personId: string, view: NewView): Promise<View> {
    const id = `view_${randomBytes(12).toString('hex')}`
    const { name, query, isShared } = view
    const { rowsAffected } = await this.#options.write.run(sql`
      insert into ${callViews} (id, project_id, person_id, is_shared, name, query)
      select ${id}, ${projectId}, ${personId}, ${isShared ? 1 : 0}, ${name.trim()}, ${query}
      where (select count(*) from ${callViews} where project_id = ${projectId}) < ${viewsMax}`)
    if (rowsAffected > 0) return { id, name: name.trim(), query, isShared, canDelete: true }
    throw new AppError('forbidden', 'Forbidden', {
      detail: `A project has at most ${viewsMax} views. Delete one first.`,
    })
  }

  /** @throws not_found unless the person sees it and may delete it */
  async delete(
    { projectId, role }: Viewer,
    personId: string,
    id: string,
  ): Promise<{ id: string; deleted: true }> {
    const isOwn = eq(callViews.personId, personId)
    const mayDelete: SQL | undefined = role === 'owner' ? or(isOwn, callViews.isShared) : isOwn
    const { rowsAffected } = await this.#options.write
      .delete(callViews)
      .where(and(eq(callViews.projectId, projectId), eq(callViews.id, id), mayDelete))
    if (rowsAffected > 0) return { id, deleted: true }
    throw new AppError('not_found', 'Not found', { detail: 'There is no such view, or it is not yours.' })
  }
}
