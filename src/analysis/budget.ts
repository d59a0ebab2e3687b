import { type SQL, sql } from 'drizzle-orm'
import type { AuditEvent } from '../audit/audit-trail.ts'
import { rowOfCall } from '../audit/targets.ts'
import type { Core } from '../core/core.ts'
import { analysisPauses, analysisQueue, analysisUsage } from '../db/schema.ts'
import type { Tokens } from './schemas.ts'

/** What analyzes calls. */
export interface Model {
  name: string
  /** Where texts are sent, for people to read. */
  destination: string
}

/** What was sent of a call. */
export interface Usage {
  tokens: Tokens
  requests: number
}

/** Why a project's analysis is paused. */
export interface Pause {
  reason: (typeof analysisPauses.$inferSelect)['reason']
  /** A sentence that a person can act on. */
  detail: string
  since: number
  /** When it is tried again. */
  until: number
}

const secondMs = 1_000
const firstPauseMs = 30 * secondMs
const pauseMsMax = 300 * secondMs
/** A person has to change something first. */
const settingsPauseMs = 600 * secondMs

interface BudgetParts {
  /** Null if none is configured. */
  model: Model | null
}

/** What the analysis of each project has used, and why it is paused. */
export class Budget {
  readonly #parts: Core & BudgetParts
  /** Tokens of the calls under way, by project. */
  readonly #reserved = new Map<number, number>()

  constructor(core: Core, parts: BudgetParts) {
    this.#parts = { ...core, ...parts }
  }

  async pauseOf(projectId: number): Promise<Pause | null> {
    const [row] = await this.#parts.read.all<Pause>(sql`
      select reason, detail, since, until from ${analysisPauses} where project_id = ${projectId}`)
    return row ?? null
  }

  /** Why calls that wait are not analyzed, in a sentence; null if they are, or only their project's budget is used up. */
  async problem(): Promise<string | null> {
    const { read, model } = this.#parts
    if (!model) return null
    const [row] = await read.all<{ detail: string }>(sql`
      select detail from ${analysisPauses} where reason <> 'budget' and ${isWaitedFor} limit 1`)
    return row ? `Calls are not analyzed: ${row.detail}.` : null
  }

  /** What was used this month. */
  async usedBy(projectId: number): Promise<Tokens> {
    const [row] = await this.#parts.read.all<Tokens>(sql`
      select prompt, completion from ${analysisUsage}
      where project_id = ${projectId} and month = ${monthOf(this.#parts.now())}`)
    return row ?? noTokens
  }

  /**
   * The statements that add to what was used this month and record in the audit trail what left this machine: the model,
   * where it is, and how much; never a text.
   * @param id of the call
   */
  spending(
    projectId: number,
    id: string,
    { tokens: { prompt, completion }, requests }: Usage,
    { action, by }: { action: 'call_analyzed' | 'rubric_tried'; by: AuditEvent['by'] },
  ): SQL[] {
    const { audit, recordHash, model, now } = this.#parts
    if (requests === 0 || !model) return []
    const summary = `${requests} ${requests === 1 ? 'request' : 'requests'}, ${prompt + completion} tokens`
    const target = `${recordHash(projectId, 'call', id)}: ${model.name} at ${model.destination}, ${summary}`
    return [
      sql`
        insert into ${analysisUsage} (project_id, month, prompt, completion)
        values (${projectId}, ${monthOf(now())}, ${prompt}, ${completion})
        on conflict do update set prompt = prompt + excluded.prompt, completion = completion + excluded.completion`,
      audit.entry({ by, projectId, action, target, targetRef: rowOfCall(projectId, id) }),
    ]
  }

  /** Pauses a project, each time for longer. Another call that fails for the same reason meanwhile changes nothing. */
  async pause(projectId: number, reason: Pause['reason'], detail: string): Promise<void> {
    const { write, now } = this.#parts
    const longest = sql`min(${pauseMsMax}, ${firstPauseMs} << min(attempts, 10))`
    const first =
      reason === 'budget'
        ? nextMonthAfter(now())
        : now() + (reason === 'unreachable' ? firstPauseMs : settingsPauseMs)
    const again = reason === 'unreachable' ? sql`${now()} + ${longest}` : sql`excluded.until`
    await write.run(sql`
      insert into ${analysisPauses} (project_id, reason, detail, since, until, attempts)
      values (${projectId}, ${reason}, ${detail}, ${now()}, ${first}, 1)
      on conflict do update set since = case reason when excluded.reason then since else excluded.since end,
        until = ${again}, attempts = case reason when excluded.reason then attempts + 1 else 1 end,
        reason = excluded.reason, detail = excluded.detail
        where until <= ${now()} or reason <> excluded.reason`)
  }

  /** Ends a pause, since a request has succeeded. */
  async resume(projectId: number): Promise<void> {
    if ((await this.pauseOf(projectId)) === null) return
    await this.#parts.write.run(sql`delete from ${analysisPauses} where project_id = ${projectId}`)
  }

  /**
   * Sets tokens aside while a call is analyzed, so that many at once do not use more than the budget.
   * @param limit tokens a month; null for no limit
   * @returns null if they are not left
   */
  async reserve(
    projectId: number,
    limit: number | null,
    tokens: number,
  ): Promise<{ release(): void } | null> {
    const usage = limit === null ? noTokens : await this.usedBy(projectId)
    const reservedTokens = this.#reserved.get(projectId) ?? 0
    if (limit !== null && usage.prompt + usage.completion + reservedTokens + tokens > limit) return null
    this.#reserved.set(projectId, reservedTokens + tokens)
    const release = () => {
      const rest = (this.#reserved.get(projectId) ?? 0) - tokens
      if (rest > 0) this.#reserved.set(projectId, rest)
      else this.#reserved.delete(projectId)
    }
    return { release }
  }

  /** Lets each paused project be tried at once, as at a start. */
  async tryAll(): Promise<void> {
    const { read, write, now } = this.#parts
    const isToTry = sql`until > ${now()} and ${isWaitedFor}`
    // Read first, since a write needs the primary.
    const paused = await read.all(sql`select 1 from ${analysisPauses} where ${isToTry} limit 1`)
    if (paused.length > 0)
      await write.run(sql`update ${analysisPauses} set until = ${now()} where ${isToTry}`)
  }
}

/** Whether calls of a paused project wait. */
const isWaitedFor = sql`exists (
  select 1 from ${analysisQueue} where analysis_queue.project_id = analysis_pauses.project_id)`
const noTokens: Tokens = { prompt: 0, completion: 0 }

function monthOf(time: number): string {
  return new Date(time).toISOString().slice(0, 7)
}

function nextMonthAfter(time: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
