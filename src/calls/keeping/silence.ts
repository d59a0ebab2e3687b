import { isNotNull, type SQL, sql } from 'drizzle-orm'
import { byService } from '../../audit/audit-trail.ts'
import type { Core } from '../../core/core.ts'
import type { Job, Turn } from '../../core/jobs.ts'
import { calls, projects } from '../../db/schema.ts'
import { spanMs } from '../../text/time-span.ts'
import type { Ingest } from '../writing/ingest.ts'
import { heardEveryMs } from '../writing/merge.ts'
import { dueCallsMax, writeDueCalls } from './due-calls.ts'

const checkMs = 60_000

interface SilenceParts {
  ingest: Pick<Ingest, 'endSilent'>
}

/** A live call of which nothing was heard. */
interface SilentCall {
  id: string
  heardAt: number
  chars: number
}

/** Completes live calls of which nothing was heard for as long as their project waits. Checks every minute. */
export class Silence {
  readonly #parts: Core & SilenceParts
  readonly #job: Job

  constructor(core: Core, parts: SilenceParts) {
    this.#parts = { ...core, ...parts }
    this.#job = core.jobs.add({
      name: 'silence',
      run: (turn) => this.#run(turn),
      everyMs: checkMs,
      retryMs: checkMs,
      failure: 'Completing silent calls failed',
    })
  }

  /** Completes every call that is due now. */
  run(): Promise<void> {
    return this.#job.now()
  }

  async #run(turn: Turn): Promise<void> {
    const { read, now } = this.#parts
    if (!(await turn.isMine())) return
    const settings = await read
      .selectDistinct({ after: sql<string>`${projects.endSilentAfter}` })
      .from(projects)
      .where(isNotNull(projects.endSilentAfter))
    for (const { after } of settings) {
      // An arrival within a minute of an earlier one is not noted.
      const before = now() - spanMs(after) - heardEveryMs
      for (const { projectId } of await read.all<{ projectId: number }>(dueProjects(after, before)))
        await this.#endSilent(projectId, after, before, turn)
    }
  }

  async #endSilent(projectId: number, after: string, before: number, turn: Turn): Promise<void> {
    const { store, ingest, audit } = this.#parts
    let ended = 0
    try {
      await writeDueCalls<SilentCall>({
        read: (last) => store(projectId).read.all(dueCalls(projectId, after, before, last)),
        write: async (slice) => {
          if (!(await turn.isMine())) return false
          const ids = slice.map(({ id }) => id)
          ended += await ingest.endSilent(projectId, ids, before)
          return true
        },
        turn,
      })
    } finally {
      const target = `${ended} ${ended === 1 ? 'call' : 'calls'} silent for ${after}`
      if (ended > 0) await audit.record({ by: byService, projectId, action: 'calls_ended', target })
    }
  }
}

/** The projects with this setting that have live calls of which nothing was heard since a time. */
function dueProjects(after: string, before: number): SQL {
  return sql`select id as projectId from ${projects} where end_silent_after = ${after} and deleted_at is null
    and exists (select 1 from ${calls} where project_id = projects.id and status = 'live' and heard_at <= ${before})`
}

/** Such calls of a project that still has the setting, the longest silent first, after the previous ones. */
function dueCalls(
  projectId: number,
  after: string,
  before: number,
  last: Pick<SilentCall, 'heardAt' | 'id'> = { heardAt: 0, id: '' },
): SQL {
  return sql`select id, heard_at as heardAt, document_chars as chars from ${calls}
    where project_id = (select id from ${projects} where id = ${projectId} and end_silent_after = ${after})
      and status = 'live' and heard_at <= ${before} and (heard_at, id) > (${last.heardAt}, ${last.id})
    order by heard_at, id limit ${dueCallsMax}`
}
