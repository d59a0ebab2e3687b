import { and, isNotNull, isNull } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { projects } from '../db/schema.ts'

const dayMs = 86_400_000

interface DailyParts {
  read: ReadDatabase
  /** After how many days something is over; null where it never is. */
  days: typeof projects.retainDays | typeof projects.recordingRetainDays
  now: () => number
}

/** What projects ask for in days: each has it done once a day, and soon after the setting has changed. */
export class Daily {
  readonly #parts: DailyParts
  /** When each project was last done, and with which setting. */
  readonly #lastRuns = new Map<number, { days: number; at: number }>()

  constructor(parts: DailyParts) {
    this.#parts = parts
  }

  /** @param work resolves to whether it is done */
  async run(work: (projectId: number, days: number) => Promise<boolean>): Promise<void> {
    const { read, days: column, now } = this.#parts
    const open = await read
      .select({ projectId: projects.id, days: column })
      .from(projects)
      .where(and(isNotNull(column), isNull(projects.deletedAt)))
    // Turning it off and on again asks for a new run.
    for (const projectId of this.#lastRuns.keys())
      if (!open.some((project) => project.projectId === projectId)) this.#lastRuns.delete(projectId)
    for (const { projectId, days } of open) {
      const lastRun = this.#lastRuns.get(projectId)
      if (days === null || (lastRun?.days === days && isOfToday(lastRun.at, now()))) continue
      if (await work(projectId, days)) this.#lastRuns.set(projectId, { days, at: now() })
    }
  }
}

export function isOfToday(at: number, now: number): boolean {
  // A time in the future was written before the clock was corrected.
  return Math.abs(now - at) < dayMs
}
