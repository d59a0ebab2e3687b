import { randomBytes } from 'node:crypto'
import { and, asc, eq, getTableColumns, not, or, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { callViews, members } from '../db/schema.ts'
import { type AppError, forbidden, notFound, refuseFields } from '../errors.ts'
import { type Membership, mayDo, type Role } from '../identity.ts'
import { nameProblem } from '../validation.ts'
import type { ArrangedViews, NewView } from './schemas.ts'

/** The most views of one person in a project. */
const viewsMax = 100

/** Filters of the list of calls, or a chart, kept under a name. */
type View = Awaited<ReturnType<Views['list']>>['data'][number]

/** The views and charts that people keep of a project's calls: for themselves, or, unless they are viewers, for everybody in it. */
export class Views {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** The views that the person sees, as they have arranged them, then the others by name; and how they arrange the overview. */
  async list(member: Membership, personId: string) {
    const { projectId, role } = member
    const [own] = await this.#core.read
      .select({ views: members.views })
      .from(members)
      .where(and(eq(members.projectId, projectId), eq(members.personId, personId)))
    const first = own?.views?.first
    const rows = await this.#core.read
      .select(getTableColumns(callViews))
      .from(callViews)
      .where(
        and(eq(callViews.projectId, projectId), or(callViews.isShared, eq(callViews.personId, personId))),
      )
      .orderBy(
        sql`(select key from json_each(${JSON.stringify(own?.views?.order ?? [])}) where value = ${callViews.id}) nulls last`,
        asc(sql`lower(${callViews.name})`),
        asc(callViews.id),
      )
    const data = rows.map(({ id, name, page, query, isShared, personId: keptBy }) => ({
      id,
      name,
      page,
      /** The query string of the page's URL. */
      query,
      isShared,
      /** Whether the person's list of calls begins with it. */
      isFirst: first === id,
      /** Whether the person who asks may rename and delete it. */
      canChange: role === 'owner' || (keptBy === personId && (!isShared || mayDo('change', member))),
    }))
    return { data, overview: own?.views?.overview ?? { order: [], hidden: [] } }
  }

  /** @throws invalid_request for a bad name; forbidden when the person keeps too many, and for a viewer's shared view */
  async create(member: Membership, personId: string, view: NewView): Promise<View> {
    const id = `view_${randomBytes(12).toString('hex')}`
    const { projectId } = member
    const { name, page = 'calls', query, isShared } = view
    refuseFields({ name: nameProblem(name) })
    if (isShared && !mayDo('change', member))
      throw forbidden('A viewer cannot share views. An owner can make you a member.')
    const { rowsAffected } = await this.#core.write.run(sql`
      insert into ${callViews} (id, project_id, person_id, is_shared, name, page, query)
      select ${id}, ${projectId}, ${personId}, ${isShared ? 1 : 0}, ${name.trim()}, ${page}, ${query}
      where (select count(*) from ${callViews}
        where project_id = ${projectId} and person_id = ${personId}) < ${viewsMax}`)
    if (rowsAffected > 0)
      return { id, name: name.trim(), page, query, isShared, isFirst: false, canChange: true }
    throw forbidden(
      `You already have ${viewsMax} views and charts of this project, the most that one person can save. Delete one first.`,
    )
  }

  /** @throws invalid_request for a bad name; not_found unless the person sees it and may change it */
  async rename(
    member: Membership,
    personId: string,
    id: string,
    name: string,
  ): Promise<{ id: string; name: string }> {
    refuseFields({ name: nameProblem(name) })
    const { rowsAffected } = await this.#core.write
      .update(callViews)
      .set({ name: name.trim() })
      .where(ownView(member, personId, id))
    if (rowsAffected > 0) return { id, name: name.trim() }
    throw noView()
  }

  /** How the person's views are arranged from now on; what is left out stays. Ids of views that they do not see do no harm. */
  async arrange({ projectId }: Membership, personId: string, views: ArrangedViews): Promise<ArrangedViews> {
    await this.#core.write
      .update(members)
      .set({ views: sql`json_patch(coalesce(${members.views}, '{}'), ${JSON.stringify(views)})` })
      .where(and(eq(members.projectId, projectId), eq(members.personId, personId)))
    return views
  }

  /** @throws not_found unless the person sees it and may change it */
  async delete(member: Membership, personId: string, id: string): Promise<{ id: string; deleted: true }> {
    const { rowsAffected } = await this.#core.write.delete(callViews).where(ownView(member, personId, id))
    if (rowsAffected > 0) return { id, deleted: true }
    throw noView()
  }
}

/** A view that the person may rename and delete. */
function ownView({ projectId, role }: Membership, personId: string, id: string): SQL | undefined {
  const isOwn = eq(callViews.personId, personId)
  const mayChange: Record<Role, SQL | undefined> = {
    owner: or(isOwn, callViews.isShared),
    member: isOwn,
    viewer: and(isOwn, not(callViews.isShared)),
  }
  return and(eq(callViews.projectId, projectId), eq(callViews.id, id), mayChange[role])
}

function noView(): AppError {
  return notFound('There is no such view, or it is not yours.')
}
