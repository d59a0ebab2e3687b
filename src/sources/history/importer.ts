import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Ingest, Outcome } from '../../calls/writing/ingest.ts'
import type { ImportCount, ImportProgress } from '../../db/schema.ts'
import { AppError } from '../../errors.ts'
import type { FetchQueue } from '../../recordings/fetching/fetch-queue.ts'
import type { ApiFailure, PlatformClient } from '../../recordings/fetching/platform-client.ts'
import { findProblem, unfaithful } from '../../validation.ts'
import { setUpOf } from '../catalog.ts'
import type { ApiRequest, AskedPage, CallHistory, Fault, SourceUpdate } from '../event.ts'
import { FieldFault, Fields, isObject, listIn } from '../fields.ts'
import { eventsOf, histories, platforms, readEvent, recordingIn } from '../platforms.ts'
import { faultOf } from '../source-events.ts'
import { originOf, type WebhookSource } from '../sources.ts'
import { forEachAtOnce, Pace } from './pace.ts'

const answerBytesMax = 33_554_432
/** Few, so that other writes wait only briefly. */
const callsPerWrite = 25
const samplesMax = 20
const restartsMax = 3
/** Pages of what a list lacks of one call. */
const morePagesMax = 200
/** Pages in a row without a new call. */
const idlePagesMax = 3
/** What passes by soon is waited for at once: so often, and so long. */
const retriesMax = 2
const retryMs = 500
const retryMsMax = 5_000
/** Pages of agents, of a platform that lists the calls of one. */
const agentPagesMax = 50

/** Why an import cannot go on. */
export class ImportProblem extends Error {
  /** Null for what will not pass by. */
  readonly waitMs: number | null

  constructor(message: string, waitMs: number | null = null) {
    super(message)
    this.waitMs = waitMs
  }
}

/** What an import needs of its source. */
interface Connection {
  source: WebhookSource
  history: CallHistory
  label: string
  origin: string
  apiKey: string
}

/** @throws ImportProblem if the platform has no history, or the source no API key */
export function connectionOf(source: WebhookSource): Connection {
  const { platform, options } = source
  const history = histories[platform]
  const { label } = setUpOf(platform)
  if (!history) throw new ImportProblem(`The history of ${label} cannot be imported yet.`)
  const { apiKey, host } = options
  if (apiKey === undefined)
    throw new ImportProblem(`The source has no API key of ${label}. Set its option apiKey.`)
  const origin = host === undefined ? history.api : originOf(host)
  if (origin === null) throw new ImportProblem(`The source has no host of ${label}. Set its option host.`)
  return { source, history, label, apiKey, origin }
}

/** A call to write. */
interface PastCall {
  id: string
  startedAt: number
  event: object
  update: SourceUpdate
  /** Whether it is told like a call that has just ended. */
  isNews: boolean
  recordingGoneAt: number | undefined
}

export interface ImporterParts {
  ingest: Pick<Ingest, 'putHistory'>
  fetchQueue: Pick<FetchQueue, 'enqueue'>
  client: Pick<PlatformClient, 'ask'>
}

/** One run of an import or of a poll, from page to page. */
export class Importer {
  readonly #parts: ImporterParts
  readonly #signal: AbortSignal
  readonly #newsSince: number
  readonly progress: ImportProgress
  /** When the first call began that has not ended; infinity without one. */
  oldestLiveAt = Number.POSITIVE_INFINITY
  readonly #pace: Pace
  readonly #cursors = new Set<string>()
  #lastIds = new Set<string>()
  #idlePages = 0

  /** @param newsSince a call that ended since then is no history; never by default */
  constructor(
    parts: ImporterParts,
    progress: ImportProgress,
    signal: AbortSignal,
    newsSince = Number.POSITIVE_INFINITY,
  ) {
    this.#parts = parts
    this.#signal = signal
    this.#newsSince = newsSince
    this.progress = structuredClone(progress)
    this.#pace = new Pace(progress.rate)
  }

  /**
   * Reads a page, writes its calls, and notes how far it came. Returns whether there may be more.
   * @throws ImportProblem; AppError when nothing can be written now
   */
  async page(source: WebhookSource): Promise<boolean> {
    const connection = connectionOf(source)
    const { progress } = this
    const agents = await this.#agents(connection)
    const [agent] = agents
    if (agent === undefined) return false
    const page = await this.#readPage(connection, agent)
    if (page === null) return true
    const calls: PastCall[] = []
    const counts = { ...progress.counts }
    const samples = structuredClone(progress.samples)
    const count = (name: ImportCount, fault?: Fault) => {
      counts[name]++
      if (fault) addSample(samples, fault)
    }
    await forEachAtOnce(
      page.items,
      connection.history.atOnce,
      async (item, signal) => {
        const call = await this.#read(connection, item, signal)
        if ('count' in call) count(call.count, call.fault)
        else calls.push(call)
      },
      this.#signal,
    )
    calls.sort((a, b) => a.startedAt - b.startedAt)
    let queued = progress.recordingsQueued
    for (let from = 0; from < calls.length; from += callsPerWrite) {
      this.#signal.throwIfAborted()
      const some = calls.slice(from, from + callsPerWrite)
      const outcomes = await this.#write(source, some)
      for (const outcome of outcomes) count(...countOf(outcome))
      if (progress.withRecordings) queued += await this.#queueRecordings(source, some, outcomes)
      await setImmediate()
    }
    const newest = Math.max(progress.at ?? 0, ...calls.map(({ startedAt }) => startedAt))
    const rest = page.next === null ? agents.slice(1) : agents
    if (page.next === null) this.#cursors.clear()
    Object.assign(progress, {
      ...(progress.agents && { agents: rest }),
      counts,
      samples,
      recordingsQueued: queued,
      cursor: page.next,
      at: newest || null,
      rate: this.#pace.rate,
      failingSince: null,
      attempts: 0,
    } satisfies Partial<ImportProgress>)
    const { created, changed } = counts
    return rest.length > 0 && created + changed < (progress.limit ?? Number.POSITIVE_INFINITY)
  }

  /** What the platform says of its calls, without writing anything. @throws ImportProblem */
  async preview(source: WebhookSource) {
    const connection = connectionOf(source)
    const { history, label } = connection
    const { platform, options } = source
    const [agent, ...others] = await this.#agents(connection)
    const perCall = history.more ? 1 : 0
    if (agent === undefined)
      return { reachable: null, total: 0, perCall, seen: 0, recordings: 0, goneAt: null }
    const asked = this.#askedPage(agent)
    const answer = await this.#askList(connection, history.sample ?? history.page(asked))
    const { items, times, total, more } = readable(label, () => {
      const items = history
        .read(answer, { ...asked, pageSize: Number.MAX_SAFE_INTEGER })
        .items.filter(isObject)
      const [first] = items
      return {
        items,
        times: startsOf(items, history),
        total:
          others.length === 0 && isObject(answer) ? (history.totalIn?.(Fields.of(answer)) ?? null) : null,
        more: first && history.more?.(Fields.of(first), null),
      }
    })
    const whole = more && (await this.#ask(connection, more, this.#signal))
    const goneAt =
      whole && 'value' in whole && readable(label, () => history.recordingGoneAt?.(Fields.of(whole.value)))
    const isNamed = (item: Record<string, unknown>) =>
      recordingIn(platforms[platform], history.eventOf(item, {}), options) !== null
    return {
      reachable: times.length > 0 ? Math.min(...times) : null,
      total,
      perCall,
      seen: items.length,
      // Where the list lacks words, it may lack recordings.
      recordings: history.more ? null : items.filter(isNamed).length,
      goneAt: goneAt || null,
    }
  }

  #askedPage(agent: string): AskedPage {
    const { since, until, cursor, pageSize } = this.progress
    return { span: { from: since, to: until }, cursor, pageSize, agent }
  }

  /** Whose calls are left to list: all at once on most platforms. */
  async #agents(connection: Connection): Promise<string[]> {
    const { history, label } = connection
    const { agents } = history
    if (!agents) return ['']
    const ids = new Set<string>()
    let cursor: string | null = null
    for (let pages = 0; !this.progress.agents; pages++) {
      if (pages === agentPagesMax) throw new ImportProblem(`${label} has too many agents.`)
      const answer: unknown = await this.#askList(connection, agents.page(cursor))
      const page = readable(label, () => agents.read(answer, cursor))
      for (const id of page.ids) ids.add(id)
      cursor = page.next
      if (cursor === null) this.progress.agents = [...ids]
    }
    return this.progress.agents
  }

  /** Null where the span is to be read anew. */
  async #readPage(connection: Connection, agent: string) {
    const { history, label } = connection
    const asked = this.#askedPage(agent)
    const { cursor } = asked
    const answer = await this.#askList(connection, history.page(asked))
    if (answer === undefined) return null
    const page = readable(label, () => history.read(answer, asked))
    if (page.next !== null && (page.next === cursor || this.#cursors.has(page.next)))
      throw new ImportProblem(`${label} sends the same page again.`)
    if (page.next !== null) this.#cursors.add(page.next)
    // Pages overlap where the platform counts calls, since one that is deleted meanwhile moves the others.
    const idOf = (item: unknown) => (isObject(item) ? String(item[history.idName]) : '')
    const items = page.items.filter((item) => !this.#lastIds.has(idOf(item)))
    this.#idlePages = items.length === 0 && !history.hasEmptyPages ? this.#idlePages + 1 : 0
    this.#lastIds = new Set(page.items.map(idOf).filter((id) => id !== ''))
    if (page.next !== null && this.#idlePages >= idlePagesMax)
      throw new ImportProblem(`${label} says that there are more calls, and sends none.`)
    return { items, next: page.next }
  }

  /** Undefined, which no JSON is, where another page is to be asked for. @throws ImportProblem */
  async #askList(connection: Connection, request: ApiRequest): Promise<unknown> {
    const { label } = connection
    const { progress } = this
    const answer = await this.#ask(connection, request, this.#signal)
    if ('value' in answer) return answer.value
    const { status, isTooLarge, message } = answer
    if (isTooLarge && progress.pageSize > 2) {
      progress.pageSize = Math.floor(progress.pageSize / 2)
      return undefined
    }
    if (status === 400 && progress.cursor !== null && progress.restarts < restartsMax) {
      progress.restarts++
      progress.cursor = null
      this.#cursors.clear()
      this.#lastIds.clear()
      return undefined
    }
    if (status === 403) throw new ImportProblem(`${label} refuses the API key (403).`)
    if (status === 404) throw new ImportProblem(`${label} has no such address (404). Check the option host.`)
    throw new ImportProblem(message)
  }

  /** @throws ImportProblem for a platform that refuses the key, or that is to be asked later */
  async #ask(
    { history, label, apiKey, origin }: Connection,
    { path, body }: ApiRequest,
    signal: AbortSignal,
  ): Promise<{ value: unknown } | ApiFailure> {
    const json = body && { body: JSON.stringify(body) }
    const headers = { ...history.headers(apiKey), ...(body && { 'content-type': 'application/json' }) }
    for (let attempt = 0; ; attempt++) {
      await this.#pace.turn(signal)
      const url = `${origin}${path}`
      const answer = await this.#parts.client.ask({ url, headers, label, ...json }, answerBytesMax, signal)
      if ('value' in answer) return answer
      const { failure } = answer
      const { status, waitMs, message, isPassing } = failure
      if (status === 401) throw new ImportProblem(`${label} refuses the API key (401).`)
      if (!isPassing) return failure
      if (status === 429) this.#pace.rate = Math.max(1, this.#pace.rate / 2)
      const delayMs = Math.max(waitMs, retryMs * 2 ** attempt)
      if (attempt >= retriesMax || delayMs > retryMsMax) throw new ImportProblem(message, waitMs)
      this.#pace.hold(waitMs)
      await sleep(delayMs, null, { signal })
    }
  }

  /** The call that an item of the list is, or what it counts as. */
  async #read(
    connection: Connection,
    item: unknown,
    signal: AbortSignal,
  ): Promise<PastCall | { count: ImportCount; fault?: Fault }> {
    const { history, source } = connection
    try {
      if (!isObject(item)) throw new FieldFault('body', 'must be an object')
      const fields = Fields.of(item)
      fields.required(history.idName)
      const fate = history.fateOf(fields, Fields.of({}))
      if (fate === 'live')
        this.oldestLiveAt = Math.min(this.oldestLiveAt, history.startedAt(fields) ?? this.oldestLiveAt)
      if (fate !== 'ended') return { count: fate }
      const more = await this.#askMore(connection, fields, signal)
      if (!('value' in more)) {
        if (more.status === 404) return { count: 'deletedThere' }
        const message = more.isTooLarge ? 'is too large' : `cannot be had: status ${more.status}`
        return { count: 'failed', fault: { field: 'body', message } }
      }
      const whole = isObject(more.value) ? more.value : {}
      const problem = findProblem([item, whole], unfaithful)
      if (problem) throw new FieldFault('body', problem.message)
      const wholeFate = history.fateOf(fields, Fields.of(whole))
      if (wholeFate !== 'ended') return { count: wholeFate }
      const event = history.eventOf(item, whole)
      const update = readEvent(platforms[source.platform], event, source.options)
      if (update === null) return { count: 'unmatched' }
      if (!('id' in update)) return { count: 'failed', fault: update }
      const startedAt = Date.parse(update.change.createdAt ?? '')
      if (Number.isNaN(startedAt)) throw new FieldFault('createdAt', 'is not known')
      const endedAt = startedAt + Math.round((update.change.duration ?? 0) * 1_000)
      // Dated at the end of the call at the latest, so that nothing newer is overwritten.
      const { occurredAt = new Date(endedAt).toISOString() } = update.change
      return {
        id: update.id,
        startedAt,
        event,
        update: { ...update, change: { ...update.change, occurredAt } },
        isNews: Date.parse(occurredAt) >= this.#newsSince,
        recordingGoneAt: history.recordingGoneAt?.(Fields.of(whole)),
      }
    } catch (error) {
      if (error instanceof FieldFault) return { count: 'failed', fault: error }
      throw error
    }
  }

  /** What the list lacks of a call: nothing on most platforms, or all pages of it. */
  async #askMore(connection: Connection, fields: Fields, signal: AbortSignal) {
    const { more, morePages } = connection.history
    if (!more) return { value: {} }
    const answer = await this.#ask(connection, more(fields, null), signal)
    if (!morePages || !('value' in answer)) return answer
    const { list, nextIn } = morePages
    const entries = listIn(answer.value, list)
    let next = nextIn(answer.value)
    for (let pages = 1; next !== null && pages < morePagesMax; pages++) {
      const page = await this.#ask(connection, more(fields, next), signal)
      if (!('value' in page)) return page
      entries.push(...listIn(page.value, list))
      next = nextIn(page.value)
    }
    return { value: { [list]: entries } }
  }

  async #write({ projectId, platform }: WebhookSource, calls: readonly PastCall[]): Promise<Outcome[]> {
    const { ingest } = this.#parts
    const events = calls.map(({ id, update, isNews }) => ({ id, isNews, ...eventsOf(update) }))
    const wholes = events.map(({ id, isNews, whole }) => ({ id, isNews, event: whole }))
    const outcomes = await ingest.putHistory(projectId, wholes, platform)
    // Too much metadata must not cost the rest of the call.
    const isMetadata = (outcome: Outcome | undefined) =>
      outcome instanceof AppError && outcome.errors?.[0]?.field === 'details.metadata'
    const again = events.filter((_, at) => isMetadata(outcomes[at]))
    if (again.length === 0) return outcomes
    const bare = again.map(({ id, isNews, bare }) => ({ id, isNews, event: bare }))
    const others = await ingest.putHistory(projectId, bare, platform)
    return outcomes.map((outcome) => (isMetadata(outcome) ? (others.shift() ?? outcome) : outcome))
  }

  async #queueRecordings(
    { id: sourceId, projectId, platform, options }: WebhookSource,
    calls: readonly PastCall[],
    outcomes: readonly Outcome[],
  ): Promise<number> {
    let queued = 0
    for (const [at, { id, event, isNews, recordingGoneAt }] of calls.entries()) {
      const recording = recordingIn(platforms[platform], event, options)
      if (!recording || outcomes[at] instanceof AppError) continue
      const history = { isHistory: !isNews, goneAt: recordingGoneAt }
      if (await this.#parts.fetchQueue.enqueue(projectId, id, { ...recording, sourceId, ...history }))
        queued++
    }
    return queued
  }
}

/** When calls began; one of a changed schema is left out unless all are. @throws FieldFault */
function startsOf(items: readonly Record<string, unknown>[], { startedAt }: CallHistory): number[] {
  const starts = items.map((item) => {
    try {
      return startedAt(Fields.of(item)) ?? null
    } catch (error) {
      if (error instanceof FieldFault) return error
      throw error
    }
  })
  const [fault] = starts.filter((start) => start instanceof FieldFault)
  const times = starts.filter((start) => typeof start === 'number')
  if (fault && times.length === 0) throw fault
  return times
}

/** @throws ImportProblem naming the field that is not as described */
function readable<Value>(label: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof FieldFault)) throw error
    throw new ImportProblem(`${label} answers with something unexpected: ${error.field} ${error.message}.`)
  }
}

/** What the result of a write counts as. @throws AppError when nothing can be written now */
function countOf(outcome: Outcome): [name: ImportCount, fault?: Fault] {
  if (!(outcome instanceof AppError))
    return [outcome.isNew ? 'created' : outcome.isChanged ? 'changed' : 'unchanged']
  const fault = faultOf(outcome)
  return fault ? ['failed', fault] : ['erased']
}

function addSample(samples: ImportProgress['samples'], { field, message }: Fault): void {
  const known = samples.find((sample) => sample.field === field && sample.message === message)
  if (known) known.count++
  else if (samples.length < samplesMax) samples.push({ field, message, count: 1 })
}
