import { isNotNull, type SQL, sql } from 'drizzle-orm'
import { type AuditTrail, byService } from '../../audit/audit-trail.ts'
import type { Lease } from '../../db/lease.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { calls, projects } from '../../db/schema.ts'
import type { StoreOf } from '../../db/store.ts'
import type { Log } from '../../observability/log.ts'
import { spanMs } from '../../text/time-span.ts'
import { Background } from '../../threads/background.ts'
import type { Ingest } from '../writing/ingest.ts'
import { heardEveryMs } from '../writing/merge.ts'
import { dueCallsMax, writeDueCalls } from './due-calls.ts'

const checkMs = 60_000
const retryMs = 60_000

interface SilenceOptions {
  read: ReadDatabase
  store: StoreOf
  ingest: Pick<Ingest, 'endSilent'>
  audit: Pick<AuditTrail, 'record'>
  lease: Pick<Lease, 'take' | 'release'>
  /** Milliseconds since 1970. */
  now: () => number
  log: Pick<Log, 'error'>
}

/** A live call of which nothing was heard. */
interface SilentCall {
  id: string
  heardAt: number
  chars: number
}

/** Completes live calls of which nothing was heard for as long as their project waits. Checks every minute. */
export class Silence {
  readonly #options: SilenceOptions
  readonly #background: Background

  constructor(options: SilenceOptions) {
    this.#options = options
    this.#background = new Background({
      work: (signal) => this.#run(signal),
      everyMs: checkMs,
      delayMs: 0,
      retryMs,
      onFailure: (error) =>
        options.log.error({ error }, 'Completing silent calls failed and will be tried again'),
    })
  }

  /** Checks now and from now on. Only the process that owns the folder may. */
  start(): void {
    this.#background.soon()
  }

  /** Completes every call that is due now. */
  async run(): Promise<void> {
    await this.#background.now()
  }

  /** Stops after the current slice. The next start does the rest. */
  async close(): Promise<void> {
    await this.#background.close()
    await this.#options.lease.release().catch(() => undefined)
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { read, lease, now } = this.#options
    if (!(await lease.take())) return
    const settings = await read
      .selectDistinct({ after: sql<string>`${projects.endSilentAfter}` })
      .from(projects)
      .where(isNotNull(projects.endSilentAfter))
    for (const { after } of settings) {
      // An arrival within a minute of an earlier one is not noted.
      const before = now() - spanMs(after) - heardEveryMs
      for (const { projectId } of await read.all<{ projectId: number }>(dueProjects(after, before)))
        await this.#endSilent(projectId, after, before, signal)
    }
  }

  async #endSilent(projectId: number, after: string, before: number, signal: AbortSignal): Promise<void> {
    const { store, ingest, audit, lease } = this.#options
    let ended = 0
    try {
      await writeDueCalls<SilentCall>({
        read: (last) => store(projectId).read.all(dueCalls(projectId, after, before, last)),
        write: async (slice) => {
          if (!(await lease.take())) return false
          const ids = slice.map(({ id }) => id)
          ended += await ingest.endSilent(projectId, ids, before)
          return true
        },
        signal,
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
