import { type SQL, sql } from 'drizzle-orm'
import { type AppError, ownersOnly } from '../errors.ts'
import { members } from './schema.ts'

/** What must be true when a batch runs, and the error for when it is not. */
export interface Requirement {
  condition: SQL
  otherwise: () => AppError
}

/** Who acts, as the audit trail names them; undefined for the command line, which may do everything. */
type Actor = { actor: { id: string } | { keyId: string } } | undefined

/**
 * Runs a batch that begins with `check`. The check judges the requirements within the batch's transaction: when one
 * does not hold, nothing is written. @throws the error of the first requirement that does not hold
 */
export async function requiring<Result>(
  requirements: readonly Requirement[],
  run: (check: SQL) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(checkOf(requirements))
  } catch (error) {
    const broken = requirements[brokenIndex(error)]
    throw broken ? broken.otherwise() : error
  }
}

/** Requires that the actor owns the project. */
export function ownsProject(projectId: number, by: Actor): Requirement {
  const isOwner = sql`exists (
    select 1 from ${members} where project_id = ${projectId} and person_id = ${personIdOf(by)} and role = 'owner')`
  return { condition: by ? isOwner : sql`true`, otherwise: ownersOnly }
}

/** Null for an actor that is not a person. */
export function personIdOf(by: Actor): string | null {
  return by && 'id' in by.actor ? by.actor.id : null
}

/** SQLite raises custom errors only in triggers, so a failed requirement asks for an impossible JSON path. */
function checkOf(requirements: readonly Requirement[]): SQL {
  const cases = requirements.map(
    ({ condition }, index) => sql`when not (${condition}) then json_extract('{}', ${`requirement ${index}`})`,
  )
  return sql`select case ${sql.join([sql`when false then null`, ...cases], sql` `)} end`
}

function brokenIndex(error: unknown): number {
  const message = error instanceof Error ? error.message : ''
  return Number(/JSON path.*'requirement (\d+)'/.exec(message)?.[1] ?? -1)
}
