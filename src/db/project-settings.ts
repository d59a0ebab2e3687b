import { and, eq, isNull, sql } from 'drizzle-orm'
import { ProjectWasDeleted } from '../errors.ts'
import type { ReadDatabase } from './reader.ts'
import type { Rights } from './rights.ts'
import { projects } from './schema.ts'
import { preparedQueries } from './store.ts'

const settingsCachedMax = 10_000

/** The columns that hold a project's settings. */
export const settingsColumns = {
  retainDays: projects.retainDays,
  redact: projects.redact,
  country: projects.country,
  keepNumbers: projects.keepNumbers,
  keepQuestionsDays: projects.keepQuestionsDays,
  gapCoverage: projects.gapCoverage,
  notesReading: projects.notesReading,
  membersMayDelete: projects.membersMayDelete,
  timeZone: projects.timeZone,
  endSilentAfter: projects.endSilentAfter,
  recordings: projects.recordings,
  recordingRetainDays: projects.recordingRetainDays,
  callerChannel: projects.callerChannel,
  prices: projects.prices,
}

/** What owners set for a project: see the columns in schema.ts. */
export type ProjectSettings = Readonly<Pick<typeof projects.$inferSelect, keyof typeof settingsColumns>>

/** Reads the settings of projects. */
export type SettingsOf = (projectId: number) => Promise<ProjectSettings>

const queries = preparedQueries((db) => ({
  byProject: db
    .select(settingsColumns)
    .from(projects)
    .where(and(eq(projects.id, sql.placeholder('projectId')), isNull(projects.deletedAt)))
    .prepare(),
}))

/**
 * Reads the settings of a project from the database.
 * @throws unavailable once the project is deleted
 */
export async function readSettings(read: ReadDatabase, projectId: number): Promise<ProjectSettings> {
  const row = await queries(read).byProject.get({ projectId })
  if (!row) throw new ProjectWasDeleted()
  return row
}

/**
 * Reads settings, and caches them. A change takes effect with the next request.
 * @returns a function that throws unavailable once the project is deleted
 */
export function createSettingsReader(read: ReadDatabase, rights: Rights): SettingsOf {
  const cached = rights.cache<number, ProjectSettings>(settingsCachedMax)
  return (projectId) => cached(projectId, () => readSettings(read, projectId))
}
