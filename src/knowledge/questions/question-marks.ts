import { sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { members, questionStates, questions } from '../../db/schema.ts'
import { invalidRequest } from '../../errors.ts'
import { noSuchQuestion } from './question-groups.ts'

/** What a person says of a question; absent members stay, null takes back. */
export interface MarkChange {
  mark?: 'answered' | 'not_answered' | 'dismissed' | null
  /** The id of a person of the project. */
  assignee?: string | null
}

/** What people say of questions: whether they are answered, and who sees to them. */
export class QuestionMarks {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * @param id the wording's
   * @throws not_found; invalid_request for an assignee who is not in the project
   */
  async change(
    projectId: number,
    id: string,
    { mark, assignee }: MarkChange,
    personId: string,
  ): Promise<{ id: string }> {
    const { store, now } = this.#core
    const { read, write } = store(projectId)
    const isAsked = sql`exists (select 1 from ${questions} where project_id = ${projectId} and wording = ${id})`
    const isMember = sql`exists (
      select 1 from ${members} where project_id = ${projectId} and person_id = ${assignee ?? null})`
    const markColumns =
      mark === undefined
        ? sql`mark = mark`
        : sql`mark = excluded.mark, marked_at = excluded.marked_at, marked_by = excluded.marked_by`
    const assigned = assignee === undefined ? sql`` : sql`, assignee_id = excluded.assignee_id`
    const isMarked = mark !== undefined && mark !== null
    const { rowsAffected } = await write.run(sql`
      insert into ${questionStates} (project_id, wording, mark, marked_at, marked_by, assignee_id)
      select ${projectId}, ${id}, ${mark ?? null}, ${isMarked ? now() : null}, ${isMarked ? personId : null},
        ${assignee ?? null}
      where ${isAsked} and (${assignee ?? null} is null or ${isMember})
      on conflict (project_id, wording) do update set ${markColumns}${assigned}`)
    if (rowsAffected > 0) return { id }
    const [row] = await read.all<{ isAsked: number }>(sql`select ${isAsked} as isAsked`)
    if (!row?.isAsked) throw noSuchQuestion()
    throw invalidRequest([{ field: 'assignee', message: 'must be a person of the project' }])
  }
}
