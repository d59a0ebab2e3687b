import { desc, eq, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Core } from '../core/core.ts'
import { ownsProject } from '../db/requirements.ts'
import { analysisPauses, rubrics } from '../db/schema.ts'
import { AppError, invalidRequest } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { compileCheck } from '../validation.ts'
import { asksForGrounds } from './grounds.ts'
import { completeRubric, type Rubric, RubricChange, type RubricContent, rubricErrors } from './schemas.ts'

const rubricsCachedMax = 200
/** Without kept questions, nobody knows what a call's searches found. */
const questionsAreNotKept = 'questions are not kept'

/** A version as a list shows it. */
export interface RubricVersion {
  version: number
  createdAt: string
  createdBy: string | null
}

const check = compileCheck(RubricChange, rubricErrors)

/** @param path of the rubric within a request's body, for errors @throws invalid_request naming each bad field */
export function readRubric(change: unknown, path = ''): RubricContent {
  const read = check(change)
  const errors = rubricErrors(read).map((error) => ({ ...error, field: path + error.field }))
  if (errors.length > 0) throw invalidRequest(errors)
  return completeRubric(read)
}

/** The rubrics of projects, in versions that never change. The newest one is in force. */
export class Rubrics {
  readonly #core: Core
  readonly #cached = new LRUCache<string, Rubric>({ max: rubricsCachedMax })

  constructor(core: Core) {
    this.#core = core
  }

  /** A version, by default the one in force. @throws not_found */
  async get(projectId: number, version?: number): Promise<Rubric> {
    const rubric = await this.find(projectId, version)
    if (!rubric) throw noRubric(version)
    return rubric
  }

  async find(projectId: number, version?: number): Promise<Rubric | null> {
    const cached = version === undefined ? undefined : this.#cached.get(`${projectId} ${version}`)
    if (cached) return cached
    const [row] = await this.#core
      .store(projectId)
      .read.select()
      .from(rubrics)
      .where(sql`project_id = ${projectId} and (${version ?? null} is null or version = ${version ?? null})`)
      .orderBy(desc(rubrics.version))
      .limit(1)
    if (!row) return null
    const rubric = {
      version: row.version,
      createdAt: new Date(row.createdAt).toISOString(),
      ...contentOf(row.content),
    }
    this.#cached.set(`${projectId} ${row.version}`, rubric)
    return rubric
  }

  /** Returns all versions, the newest first. */
  async versions(projectId: number): Promise<RubricVersion[]> {
    const rows = await this.#core
      .store(projectId)
      .read.select({ version: rubrics.version, at: rubrics.createdAt, createdBy: rubrics.createdBy })
      .from(rubrics)
      .where(eq(rubrics.projectId, projectId))
      .orderBy(desc(rubrics.version))
    return rows.map(({ at, ...row }) => ({ ...row, createdAt: new Date(at).toISOString() }))
  }

  /**
   * Adds a version, unless nothing differs from the one in force.
   * @throws invalid_request naming each bad field; forbidden for a person who does not own the project
   */
  async put(
    projectId: number,
    change: unknown,
    by?: ActedBy,
  ): Promise<{ rubric: Rubric; isNew: boolean; warning: string | null }> {
    const { store, audit, now, settingsOf } = this.#core
    const content = JSON.stringify(readRubric(change))
    const { write } = store(projectId)
    const newest = sql`select version, content from ${rubrics} where project_id = ${projectId}
      order by version desc limit 1`
    const person = by && 'id' in by.actor ? by.actor : null
    const { added } = await write.batchIf(person ? [ownsProject(projectId, by)] : [], {
      added: write.all<{ version: number }>(sql`
        insert into ${rubrics} (project_id, version, content, created_at, created_by)
        select ${projectId}, coalesce((select version from (${newest})), 0) + 1, ${content}, ${now()}, ${person?.name ?? null}
        where (select content from (${newest})) is not ${content} returning version`),
      entry: audit.entry({
        by,
        projectId,
        action: 'rubric_changed',
        target: sql`'version ' || (select version from (${newest}))`,
      }),
      // Another budget may be enough.
      pause: sql`delete from ${analysisPauses} where changes() > 0 and project_id = ${projectId} and reason = 'budget'`,
    })
    const rubric = await this.get(projectId, added[0]?.version)
    const { keepQuestionsDays } = await settingsOf(projectId)
    const isBlind = asksForGrounds(rubric) && keepQuestionsDays === null
    return { rubric, isNew: added.length > 0, warning: isBlind ? questionsAreNotKept : null }
  }
}

/** What is stored was checked before. */
function contentOf(content: Record<string, unknown>): RubricContent {
  return content as RubricContent
}

function noRubric(version: number | undefined): AppError {
  const detail =
    version === undefined
      ? 'This project has no rubric yet.'
      : `This project's rubric has no version ${version}.`
  return new AppError('not_found', 'Rubric not found', { detail })
}
