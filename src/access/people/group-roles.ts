import { type SQL, sql } from 'drizzle-orm'
import { type AuditTrail, personLabelSql } from '../../audit/audit-trail.ts'
import { isConsoleOwner } from '../../db/requirements.ts'
import { invitations, members, people, projects } from '../../db/schema.ts'
import type { ActedBy } from '../../identity.ts'
import type { GroupRole } from './provider-config.ts'

/**
 * The statements that give a person the roles of their groups, and take those that earlier groups gave, the last owner's
 * too. What a person was given by an invitation or an owner stays: the higher role counts.
 */
export function changeGroupRoles(
  { personId, groupRoles, now }: { personId: string; groupRoles: readonly GroupRole[]; now: number },
  { by, audit }: { by: ActedBy; audit: Pick<AuditTrail, 'entries'> },
) {
  const next = nextRoles(personId, groupRoles)
  return {
    entries: audit.entries(
      { by, projectId: sql`of_project`, action: 'role_changed', targetRef: personId },
      sql`(select project_id as of_project, ${personLabelSql(personId)} || ' → ' || role as value from ${next}
        where role is not old_role)`,
    ),
    roles: sql`
      insert into ${members} (project_id, person_id, role, without_groups, created_at)
      select project_id, ${personId}, role, without_groups, ${now} from ${next}
      where role <> 'none' and exists (select 1 from ${people} where id = ${personId})
      on conflict do update set role = excluded.role, without_groups = excluded.without_groups`,
    removed: sql`
      delete from ${members}
      where person_id = ${personId} and project_id in (select project_id from ${next} where role = 'none')`,
    // As when an owner changes a role: see members.ts.
    invitations: sql`
      delete from ${invitations} where created_by = ${personId} and project_id not in (
        select project_id from ${members} where person_id = ${personId} and role = 'owner')`,
  }
}

/** Whether these groups give a role in any project there is. */
export function giveSomething(groupRoles: readonly GroupRole[]): SQL {
  return sql`exists (select 1 from ${highestRoles(groupRoles)})`
}

/** Whether the person is in any project, or owns the console. */
export function isLetIn(personId: string): SQL {
  return sql`(${isConsoleOwner(personId)} or exists (
    select 1 from ${members} join ${projects} on projects.id = project_id
    where person_id = ${personId} and deleted_at is null))`
}

/** How high a role is; 0 for none. */
export function rankOf(role: SQL): SQL {
  return sql`coalesce(instr('viewer member owner', ${role}), 0)`
}

/** For each project that groups give or gave a role in: the roles now and before; `none` where there is none. */
function nextRoles(personId: string, groupRoles: readonly GroupRole[]): SQL {
  const own = sql`coalesce(without_groups, old_role, 'none')`
  const raises = sql`${rankOf(sql`given_role`)} > ${rankOf(own)}`
  return sql`(
    select project_id, old_role, case when ${raises} then given_role else ${own} end as role,
      case when ${raises} then ${own} end as without_groups
    from ${highestRoles(groupRoles)} full join (
      select project_id, role as old_role, without_groups from ${members} join ${projects} on projects.id = project_id
      where person_id = ${personId} and deleted_at is null) using (project_id))`
}

/** The highest given role in each project. A bare column beside max() is that of the same row. */
function highestRoles(groupRoles: readonly GroupRole[]): SQL {
  return sql`(
    select projects.id as project_id, value ->> 'role' as given_role, max(${rankOf(sql`value ->> 'role'`)})
    from json_each(${JSON.stringify(groupRoles)}) join ${projects}
      on deleted_at is null and value ->> 'project' in ('*', public_id, projects.name)
    group by projects.id)`
}
