import { type SQL, sql } from 'drizzle-orm'
import { type AppError, ownersOnly } from '../errors.ts'
import { members, meta } from './schema.ts'

/** The name in `meta` of the id of the person who used the set-up link, and so owns the console. */
export const consoleOwnerName = 'console_owner'

/** What must be true when a batch runs, and the error for when it is not. */
export interface Requirement {
  condition: SQL
  otherwise: () => AppError
}

/** Who acts, as the audit trail names them; undefined for the command line, which may do everything. */
type Actor = { actor: { id: string } | { keyId: string } } | undefined

/** Requires that the actor owns the project. */
export function ownsProject(projectId: number, by: Actor): Requirement {
  const isOwner = sql`exists (
    select 1 from ${members} where project_id = ${projectId} and person_id = ${personIdOf(by)} and role = 'owner')`
  // What a key may do is settled by its scope: see identity.ts.
  const isPerson = by !== undefined && 'id' in by.actor
  return { condition: isPerson ? isOwner : sql`true`, otherwise: ownersOnly }
}

/** Whether the person owns the console when the statement runs. */
export function isConsoleOwner(personId: string | SQL | null): SQL {
  return sql`exists (select 1 from ${meta} where name = ${consoleOwnerName} and value = ${personId})`
}

/** Null for an actor that is not a person. */
export function personIdOf(by: Actor): string | null {
  return by && 'id' in by.actor ? by.actor.id : null
}

/**
 * The statement that fails when a requirement does not hold. SQLite raises custom errors only in triggers, so it then
 * asks for an impossible JSON path.
 */
export function checkOf(requirements: readonly Requirement[]): SQL {
  const cases = requirements.map(
    ({ condition }, index) => sql`when not (${condition}) then json_extract('{}', ${`requirement ${index}`})`,
  )
  return sql`select case ${sql.join([sql`when false then null`, ...cases], sql` `)} end`
}

/** The requirement that has failed, if that is what the error of such a statement says. */
export function brokenBy(error: unknown, requirements: readonly Requirement[]): Requirement | undefined {
  const message = error instanceof Error ? error.message : ''
  return requirements[Number(/JSON path.*'requirement (\d+)'/.exec(message)?.[1] ?? -1)]
}
