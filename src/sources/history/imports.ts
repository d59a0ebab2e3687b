import { and, asc, desc, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { Job, Turn } from '../../core/jobs.ts'
import {
  calls,
  type ImportProgress,
  projects,
  recordingFetches,
  type SourcePoll,
  sourceImports,
  sources as sourceRows,
} from '../../db/schema.ts'
import { preparedQueries } from '../../db/store.ts'
import { AppError, type FieldError, invalidRequest, notFound } from '../../errors.ts'
import type { ActedBy } from '../../identity.ts'
import { newId } from '../../ids.ts'
import { readInstant, readSince, toIso } from '../../text/instant.ts'
import { pollEveryMs, type Sources, type WebhookSource } from '../sources.ts'
import { connectionOf, Importer, type ImporterParts, ImportProblem } from './importer.ts'
import type { ImportRequest } from './schemas.ts'

const dayMs = 86_400_000
const spanDaysMax = 5 * 366
const rateDefault = 5
/** How many imports run at once. */
const importsMax = 2
const lookEveryMs = 1_000
const waitMsMin = 15_000
const waitMsMax = 900_000
/** For how long an import goes on trying. */
const patienceMs = dayMs
/** A full disk needs an operator. */
const fullWaitMs = 60_000
/** So many of the newest calls are checked for ids that the platform's API does not know. */
const newestCalls = 20
/** How many sources are polled at once. */
const pollsMax = 4
/** What a poll asks for again. */
const pollOverlapMs = 3_600_000
/** When a poll tries again what will not pass by. */
const refusedWaitMs = 600_000

/** An import or a poll whose time it is, by the id of its row or of its source. */
interface Due {
  id: string
  dueAt: number | null
}
type ImportRow = typeof sourceImports.$inferSelect

const queries = preparedQueries((db) => ({
  bySource: db
    .select()
    .from(sourceImports)
    .where(
      and(
        eq(sourceImports.sourceId, sql.placeholder('sourceId')),
        eq(sourceImports.projectId, sql.placeholder('projectId')),
      ),
    )
    .prepare(),
  polls: db
    .select({ id: sourceRows.id, dueAt: sourceRows.pollDueAt })
    .from(sourceRows)
    .innerJoin(projects, and(eq(projects.id, sourceRows.projectId), isNull(projects.deletedAt)))
    .where(
      and(
        isNotNull(sourceRows.pollDueAt),
        sql`not exists (select 1 from ${sourceImports} where source_id = ${sourceRows.id} and due_at is not null)`,
      ),
    )
    .orderBy(asc(sourceRows.pollDueAt))
    .prepare(),
  open: db
    .select({ id: sourceImports.id, dueAt: sourceImports.dueAt })
    .from(sourceImports)
    .innerJoin(projects, and(eq(projects.id, sourceImports.projectId), isNull(projects.deletedAt)))
    .where(isNotNull(sourceImports.dueAt))
    .orderBy(asc(sourceImports.dueAt))
    .prepare(),
}))

interface SourceImportsParts extends ImporterParts {
  sources: Pick<Sources, 'get' | 'open'>
}

/**
 * Imports the past calls of sources, one at a time of each, and polls sources for new ones, in the process that owns the
 * folder.
 */
export class SourceImports {
  readonly #parts: Core & SourceImportsParts
  readonly #job: Job<string>

  constructor(core: Core, parts: SourceImportsParts) {
    this.#parts = { ...core, ...parts }
    this.#job = core.jobs.add<string>({
      name: 'imports',
      run: (turn) => this.#runDue(turn),
      commitMs: lookEveryMs,
      failure: 'Importing history failed',
      level: 'warn',
    })
  }

  /**
   * Starts an import. The same request as one that has failed goes on from where that one came.
   * @throws invalid_request, not_found; import_is_running
   */
  async start(
    projectId: number,
    sourceId: string,
    request: ImportRequest,
    by?: ActedBy,
  ): Promise<ImportReport> {
    const { write, now } = this.#parts
    const source = await this.#open(projectId, sourceId)
    const { progress, reason } = await this.#begun(source, request)
    const row = { id: newId('imp'), state: 'running', reason, progress, dueAt: now() } as const
    const isIdle = sql`not exists (
      select 1 from ${sourceImports} where source_id = ${sourceId} and due_at is not null)`
    await write.batchIf([{ condition: isIdle, otherwise: importIsRunning }], {
      started: write
        .insert(sourceImports)
        .values({ ...row, sourceId, projectId })
        .onConflictDoUpdate({ target: sourceImports.sourceId, set: row }),
      entry: this.#entry(source, 'source_import_started', by),
    })
    this.#job.soon()
    return await this.get(projectId, sourceId)
  }

  /** What the platform has of that span, without writing anything. @throws as `start` */
  async preview(projectId: number, sourceId: string, request: ImportRequest): Promise<ImportPreview> {
    const source = await this.#open(projectId, sourceId)
    const { progress } = await this.#begun(source, request)
    try {
      const preview = await new Importer(this.#parts, progress, this.#job.signal).preview(source)
      return { ...preview, ok: true, reachable: toIso(preview.reachable), goneAt: toIso(preview.goneAt) }
    } catch (error) {
      if (error instanceof ImportProblem) return { ok: false, reason: error.message }
      throw error
    }
  }

  /** The last import of a source, if there was one. @throws not_found */
  async find(projectId: number, sourceId: string): Promise<ImportReport | null> {
    const row = await queries(this.#parts.read).bySource.get({ sourceId, projectId })
    if (row) return reportOf(row, await this.#waitingRecordings(row))
    await this.#parts.sources.get(projectId, sourceId)
    return null
  }

  /** The last import of a source. @throws not_found where there was none */
  async get(projectId: number, sourceId: string): Promise<ImportReport> {
    const report = await this.find(projectId, sourceId)
    if (!report) throw notFound('No history of this source was imported.')
    return report
  }

  /** Stops an import. What is written stays. @throws not_found */
  async stop(projectId: number, sourceId: string, by?: ActedBy): Promise<ImportReport> {
    const { write } = this.#parts
    const source = await this.#open(projectId, sourceId)
    await this.get(projectId, sourceId)
    const isOpen = sql`source_id = ${sourceId} and due_at is not null`
    await write.batch({
      stopped: sql`update ${sourceImports} set state = 'stopped', reason = null, due_at = null where ${isOpen}`,
      entry: this.#entry(source, 'source_import_ended', by),
    })
    return await this.get(projectId, sourceId)
  }

  async #open(projectId: number, sourceId: string): Promise<WebhookSource> {
    await this.#parts.sources.get(projectId, sourceId)
    const source = await this.#parts.sources.open(sourceId)
    try {
      connectionOf(source)
    } catch (error) {
      if (error instanceof ImportProblem) throw invalidRequest([{ field: 'source', message: error.message }])
      throw error
    }
    await this.#expectSameIds(source)
    return source
  }

  /** @throws invalid_request if the newest calls of the platform came under ids that its API does not know */
  async #expectSameIds(source: WebhookSource): Promise<void> {
    const { projectId, platform } = source
    const { history, label } = connectionOf(source)
    const { idForm } = history
    if (!idForm) return
    const newest = await this.#parts
      .store(projectId)
      .read.select({ id: calls.id })
      .from(calls)
      .where(and(eq(calls.projectId, projectId), eq(calls.source, platform)))
      .orderBy(desc(calls.createdAt))
      .limit(newestCalls)
    const other = newest.find(({ id }) => !idForm.test(id))
    if (!other) return
    const message = `sends calls under other ids than ${label}’s API has, such as ${other.id}. An import would create each of them again. Use {{workflow_run_id}} as the id in the template`
    throw invalidRequest([{ field: 'source', message }])
  }

  /** @throws invalid_request naming each bad field */
  async #begun(source: WebhookSource, request: ImportRequest) {
    const { id, projectId } = source
    const { settingsOf, read, now } = this.#parts
    const { retainDays, recordings } = await settingsOf(projectId)
    const { span, reason } = spanOf(request, { now: now(), retainDays })
    if (request.recordings && recordings !== 'keep')
      throw invalidRequest([{ field: 'recordings', message: 'needs a project that keeps recordings' }])
    const last = await queries(read).bySource.get({ sourceId: id, projectId })
    const { dryRun: _, rate = rateDefault, ...asked } = request
    const text = JSON.stringify(asked)
    if (last?.state === 'failed' && last.progress.request === text)
      return { progress: { ...last.progress, rate, restarts: 0, failingSince: null, attempts: 0 }, reason }
    const { limit = null, recordings: withRecordings = false } = request
    return { progress: newProgress(source, { request: text, ...span, limit, rate, withRecordings }), reason }
  }

  /** Resolves to the time until it looks again; null if nothing is to be imported or polled. */
  async #runDue(turn: Turn): Promise<number | null> {
    const { read, now } = this.#parts
    const open = await queries(read).open.all()
    const polls = await queries(read).polls.all()
    await this.#beginDue(turn, open, importsMax, (id) => this.#run(id))
    await this.#beginDue(turn, polls, pollsMax, (id) => this.#poll(id))
    if (open.length > 0) return lookEveryMs
    return polls[0] ? Math.max(lookEveryMs, (polls[0].dueAt ?? 0) - now()) : null
  }

  async #beginDue(
    { isMine }: Turn,
    all: readonly Due[],
    atOnceMax: number,
    run: (id: string) => Promise<void>,
  ) {
    const isBegun = ({ id }: Due) => this.#job.underWay.includes(id)
    for (const due of all) {
      if (isBegun(due) || all.filter(isBegun).length >= atOnceMax) continue
      if ((due.dueAt ?? 0) > this.#parts.now() || !(await isMine())) continue
      this.#job.begin(due.id, () => run(due.id))
    }
  }

  /** Asks for the calls since the last poll, and for those that had not ended then. */
  async #poll(id: string): Promise<void> {
    const { sources, write, now } = this.#parts
    const { signal } = this.#job
    const startedAt = now()
    const source = await sources.open(id)
    const { poll, options } = source
    const everyMs = pollEveryMs(options.poll ?? '')
    if (!poll || !everyMs) return
    const noted = async (state: Partial<SourcePoll>, waitMs = 0) => {
      const pollDueAt = startedAt + Math.max(everyMs, waitMs)
      // Not of one that was switched off meanwhile.
      const isPolled = and(eq(sourceRows.id, id), isNotNull(sourceRows.pollDueAt))
      await write
        .update(sourceRows)
        .set({ poll: { ...poll, ...state }, pollDueAt })
        .where(isPolled)
    }
    try {
      await this.#expectSameIds(source)
      const since = Math.min(poll.from, startedAt) - pollOverlapMs
      const span = {
        since,
        until: startedAt,
        request: '',
        limit: null,
        rate: rateDefault,
        withRecordings: true,
      }
      const importer = new Importer(this.#parts, newProgress(source, span), signal, poll.since)
      while (await importer.page(await sources.open(id))) signal.throwIfAborted()
      // A call that never ends is not waited for any longer than a day.
      const from = Math.max(Math.min(startedAt, importer.oldestLiveAt), startedAt - dayMs)
      const [sample] = importer.progress.samples
      const reason = sample ? `Some calls cannot be read: ${sample.field} ${sample.message}.` : null
      await noted({ lastAt: startedAt, from, reason })
    } catch (error) {
      if (signal.aborted || isGone(error)) return
      const { message, waitMs } = problemOf(error)
      await noted({ reason: message }, waitMs ?? refusedWaitMs)
    }
  }

  async #run(id: string): Promise<void> {
    const { sources, read } = this.#parts
    const { signal } = this.#job
    const [row] = await read.select().from(sourceImports).where(isOpen(id))
    if (!row) return
    const { sourceId } = row
    const importer = new Importer(this.#parts, row.progress, signal)
    const { progress } = importer
    const set = (change: Partial<Omit<ImportRow, 'id'>>) => this.#set(id, { ...change, progress })
    try {
      for (;;) {
        signal.throwIfAborted()
        // Read for each page, since its API key may be replaced or taken away.
        const hasMore = await importer.page(await sources.open(sourceId))
        if (!hasMore) return await this.#end(row, 'done', row.reason, progress)
        if (!(await set({ state: 'running', reason: row.reason }))) return
      }
    } catch (error) {
      if (signal.aborted || isGone(error)) return
      const problem = problemOf(error)
      const dueAt = this.#nextTry(problem, progress)
      if (dueAt === null) await this.#end(row, 'failed', problem.message, progress)
      else await set({ state: 'waiting', reason: problem.message, dueAt })
    }
  }

  /** When to try again; null for never. Notes the failure. */
  #nextTry({ waitMs }: ImportProblem, progress: ImportProgress): number | null {
    const now = this.#parts.now()
    if (waitMs === null) return null
    progress.failingSince ??= now
    const delayMs = Math.max(Math.min(waitMsMin * 2 ** progress.attempts++, waitMsMax), waitMs)
    return now - progress.failingSince < patienceMs ? now + delayMs : null
  }

  /** Returns whether the import is still open. */
  async #set(id: string, change: Partial<Omit<ImportRow, 'id'>>): Promise<boolean> {
    const { rowsAffected } = await this.#parts.write.update(sourceImports).set(change).where(isOpen(id))
    return rowsAffected > 0
  }

  async #end(
    { id, sourceId, projectId }: ImportRow,
    state: 'done' | 'failed',
    reason: string | null,
    progress: ImportProgress,
  ): Promise<void> {
    const { write, sources } = this.#parts
    const source = await sources.get(projectId, sourceId)
    await write.batch({
      ended: write.update(sourceImports).set({ state, reason, progress, dueAt: null }).where(isOpen(id)),
      entry: this.#entry({ ...source, projectId }, 'source_import_ended'),
    })
  }

  #entry(
    { id, projectId, platform }: { id: string; projectId: number; platform: string },
    action: 'source_import_started' | 'source_import_ended',
    by?: ActedBy,
  ): SQL {
    return this.#parts.audit.entry({ by, projectId, action, target: platform, targetRef: id })
  }

  /** How many recordings of the source's past wait, and how many could not be fetched. */
  async #waitingRecordings({ sourceId, projectId }: ImportRow): Promise<{ waiting: number; failed: number }> {
    const [counts] = await this.#parts
      .store(projectId)
      .read.select({ waiting: sql<number>`count(due_at)`, failed: sql<number>`count(*) - count(due_at)` })
      .from(recordingFetches)
      .where(sql`project_id = ${projectId} and source_id = ${sourceId} and past_rank is not null`)
    return counts ?? { waiting: 0, failed: 0 }
  }
}

/** The progress of what has not begun. */
function newProgress(
  source: WebhookSource,
  asked: Pick<ImportProgress, 'request' | 'since' | 'until' | 'limit' | 'rate' | 'withRecordings'>,
): ImportProgress {
  return {
    ...asked,
    cursor: null,
    pageSize: connectionOf(source).history.pageSize,
    restarts: 0,
    at: null,
    counts: noCounts,
    samples: [],
    recordingsQueued: 0,
    failingSince: null,
    attempts: 0,
  }
}

const noCounts: ImportProgress['counts'] = {
  created: 0,
  changed: 0,
  unchanged: 0,
  live: 0,
  erased: 0,
  failed: 0,
  notVoice: 0,
  test: 0,
  deletedThere: 0,
  unmatched: 0,
}

function isOpen(id: string): SQL | undefined {
  return and(eq(sourceImports.id, id), isNotNull(sourceImports.dueAt))
}

/** What an error means for the import. @throws what is unexpected */
function problemOf(error: unknown): ImportProblem {
  if (error instanceof ImportProblem) return error
  if (!(error instanceof AppError)) throw error
  return new ImportProblem(error.detail, error.code === 'insufficient_storage' ? fullWaitMs : 0)
}

/** Whether the source was deleted, and its import with it. */
function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'not_found'
}

/** @throws invalid_request naming each bad field */
function spanOf(
  { since, until }: ImportRequest,
  { now, retainDays }: { now: number; retainDays: number | null },
): { span: { since: number; until: number }; reason: string | null } {
  const errors: FieldError[] = []
  const from = readSince(since, now)
  const to = until === undefined ? now : readInstant(until)
  if (from === null)
    errors.push({ field: 'since', message: 'must be a number of days such as 90d, or an ISO time' })
  if (to === null) errors.push({ field: 'until', message: 'must be an ISO time' })
  if (from !== null && from >= now) errors.push({ field: 'since', message: 'must be in the past' })
  else if (from !== null && to !== null && from >= to)
    errors.push({ field: 'since', message: 'must be before until' })
  if (from !== null && to !== null && to - from > spanDaysMax * dayMs)
    errors.push({ field: 'since', message: 'must be at most five years before until' })
  const keptFrom = retainDays === null ? 0 : now - retainDays * dayMs
  if (to !== null && to <= keptFrom)
    errors.push({ field: 'until', message: `must be within the ${retainDays} days for which calls are kept` })
  if (from === null || to === null || errors.length > 0) throw invalidRequest(errors)
  const isMoved = from < keptFrom
  const reason = isMoved ? `Calls are kept for ${retainDays} days, so older ones are not asked for.` : null
  return { span: { since: Math.max(from, keptFrom), until: Math.min(to, now) }, reason }
}

function importIsRunning(): AppError {
  return new AppError('import_is_running', 'Import is running', {
    detail: 'The history of this source is being imported. Stop that first, or wait for its end.',
  })
}

export type ImportReport = ReturnType<typeof reportOf>
export type ImportPreview =
  | (Omit<Awaited<ReturnType<Importer['preview']>>, 'reachable' | 'goneAt'> & {
      ok: true
      reachable: string | null
      goneAt: string | null
    })
  | { ok: false; reason: string }

function reportOf({ id, state, reason, progress }: ImportRow, fetches: { waiting: number; failed: number }) {
  const { since, until, at, counts, samples, recordingsQueued } = progress
  const { notVoice, test, deletedThere, unmatched, failed, ...others } = counts
  const found = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const kept = Math.max(0, recordingsQueued - fetches.waiting - fetches.failed)
  return {
    id,
    state,
    reason,
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    at: toIso(at),
    found,
    ...others,
    skipped: { notVoice, test, deletedThere, unmatched },
    failed,
    samples,
    recordings: { queued: recordingsQueued, kept, failed: fetches.failed },
  }
}
