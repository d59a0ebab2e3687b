import { and, asc, eq, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { personLabelSql } from '../../audit/audit-trail.ts'
import type { Core } from '../../core/core.ts'
import { ownsProject } from '../../db/requirements.ts'
import { invitations, members, people, projects } from '../../db/schema.ts'
import { type AppError, invalidRequest, notFound } from '../../errors.ts'
import type { ActedBy, Membership, Role } from '../../identity.ts'

/** A member of a project. Times are ISO 8601, UTC, here and in every answer of the console. */
export type MemberRow = Awaited<ReturnType<Members['list']>>[number]

/** The members of a project and their roles. A change takes effect with the next request. */
export class Members {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Null when there is no such project, or the person is not a member of it. */
  async membership(personId: string, publicId: string): Promise<Membership | null> {
    const [membership] = await this.#core.read
      .select({
        projectId: members.projectId,
        publicId: projects.publicId,
        role: members.role,
        membersMayDelete: projects.membersMayDelete,
      })
      .from(projects)
      .innerJoin(members, eq(members.projectId, projects.id))
      .where(and(eq(projects.publicId, publicId), eq(members.personId, personId), isNull(projects.deletedAt)))
    return membership ?? null
  }

  /** Returns the members in the order in which they joined. */
  async list(projectId: number) {
    const rows = await this.#core.read
      .select({
        personId: members.personId,
        name: people.name,
        email: people.email,
        role: members.role,
        joinedAt: members.createdAt,
      })
      .from(members)
      .innerJoin(people, eq(people.id, members.personId))
      .where(eq(members.projectId, projectId))
      .orderBy(asc(members.createdAt), asc(members.personId))
    return rows.map((row) => ({ ...row, joinedAt: new Date(row.joinedAt).toISOString() }))
  }

  /** The names of those who may review calls. */
  async reviewers(projectId: number): Promise<{ names: string[] }> {
    const rows = await this.#core.read
      .selectDistinct({ name: people.name })
      .from(members)
      .innerJoin(people, eq(people.id, members.personId))
      .where(and(eq(members.projectId, projectId), ne(members.role, 'viewer')))
      .orderBy(asc(people.name))
    return { names: rows.map(({ name }) => name) }
  }

  /** @throws forbidden unless `by` owns the project; not_found; invalid_request for the last owner */
  async changeRole(projectId: number, personId: string, role: Role, by: ActedBy): Promise<{ id: string }> {
    const { write, audit } = this.#core
    const isThisMember = sql`project_id = ${projectId} and person_id = ${personId}`
    const target = sql`${personLabelSql(personId)} || ${` → ${role}`}`
    const { changed } = await write.batchIf([ownsProject(projectId, by)], {
      changed: sql`
          update ${members} set role = ${role}, without_groups = null where ${isThisMember} and role <> ${role}
            and (${role} = 'owner' or ${hasOtherOwner(projectId, personId)})`,
      entry: audit.entry({ by, projectId, action: 'role_changed', target, targetRef: personId }),
      invitations: deleteInvitations(projectId, personId),
    })
    if (changed.rowsAffected > 0 || (await this.#roleOf(projectId, personId)) === role)
      return { id: personId }
    throw lastOwner('role', 'make another person an owner first')
  }

  /** @throws forbidden unless `by` owns the project; not_found; invalid_request for the last owner */
  async remove(projectId: number, personId: string, by: ActedBy): Promise<{ id: string; removed: true }> {
    const { write, audit } = this.#core
    const { removed } = await write.batchIf([ownsProject(projectId, by)], {
      removed: sql`
          delete from ${members} where project_id = ${projectId} and person_id = ${personId}
            and (role <> 'owner' or ${hasOtherOwner(projectId, personId)})`,
      entry: audit.entry({
        by,
        projectId,
        action: 'person_removed',
        target: personLabelSql(personId),
        targetRef: personId,
      }),
      invitations: deleteInvitations(projectId, personId),
    })
    if (removed.rowsAffected > 0) return { id: personId, removed: true }
    await this.#roleOf(projectId, personId)
    throw lastOwner('id', 'make another person an owner first, or delete the project')
  }

  async #roleOf(projectId: number, personId: string): Promise<Role> {
    const [row] = await this.#core.read
      .select({ role: members.role })
      .from(members)
      .where(and(eq(members.projectId, projectId), eq(members.personId, personId)))
    if (row) return row.role
    throw notFound('This person is not in this project.')
  }
}

export function hasOtherOwner(projectId: number | SQL, personId: string): SQL {
  return sql`exists (select 1 from ${members} as other
    where other.project_id = ${projectId} and other.role = 'owner' and other.person_id <> ${personId})`
}

function lastOwner(field: string, whatToDo: string): AppError {
  return invalidRequest([{ field, message: `belongs to the project's last owner: ${whatToDo}` }])
}

/** A former owner must not become an owner again through an invitation they created earlier. */
function deleteInvitations(projectId: number, personId: string): SQL {
  return sql`
    delete from ${invitations} where project_id = ${projectId} and created_by = ${personId}
      and not exists (select 1 from ${members}
        where project_id = ${projectId} and person_id = ${personId} and role = 'owner')`
}
