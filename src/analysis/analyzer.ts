import type { Lease } from '../db/lease.ts'
import type { OpenDatabase } from '../db/open.ts'
import { ProjectWasDeleted } from '../errors.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'
import type { AnalysisQueue, DueCall } from './analysis-queue.ts'
import type { Budget } from './budget.ts'
import { type CallJudge, estimateOf, type Question } from './call-judge.ts'
import { ModelUnavailable } from './chat-failures.ts'
import type { Outcomes } from './outcomes.ts'

const lookEveryMs = 1_000
const lookDelayMs = 100
const retryMsMax = 30_000
/** After so many failures of the server with one call, the call is at fault. */
const attemptsMax = 4
const busyMsMin = 2_000
const busyMsMax = 300_000

interface AnalyzerOptions {
  database: Pick<OpenDatabase, 'onCommit'>
  queue: AnalysisQueue
  budget: Budget
  judge: CallJudge
  outcomes: Outcomes
  /** So many requests run at once; twice as many calls are read and stored meanwhile. */
  requestsAtOnce: number
  /** Held by the one node that analyzes, of several on one database. */
  lease: Pick<Lease, 'take' | 'release'>
  now: () => number
  log: Pick<Log, 'info' | 'warn'>
}

/** Analyzes the calls of the queue, in the process that owns the folder: some at once, with the projects taking turns. */
export class Analyzer {
  readonly #options: AnalyzerOptions
  readonly #background: Background
  readonly #aborting = new AbortController()
  readonly #inFlight = new Map<DueCall, Promise<void>>()
  readonly #look = () => this.#background.soon()
  /** The project that had the last turn: those with a larger id are next, then it begins again. */
  #lastProjectId = 0
  /** No request is made before: the server has asked for that, or the database takes no writes. */
  #busyUntil = 0
  #busyMs = busyMsMin
  #isModelAway = false

  constructor(options: AnalyzerOptions) {
    this.#options = options
    this.#background = new Background({
      work: () => this.#begin(),
      delayMs: lookDelayMs,
      retryMsMax,
      onFailure: (error) =>
        options.log.warn({ error }, 'Reading the queue of calls to analyze failed and will be tried again'),
    })
  }

  /** Analyzes what waits, now and after each commit. What was paused is tried at once. */
  async start(): Promise<void> {
    await this.#options.budget.tryAll()
    this.#background.soon()
    this.#options.database.onCommit(this.#look)
  }

  /** Whether a call is being analyzed by this process. */
  isRunning(seq: number): boolean {
    return [...this.#inFlight.keys()].some((due) => due.seq === seq)
  }

  /** Aborts the requests under way. They are made again after the next start. */
  async close(): Promise<void> {
    this.#aborting.abort(new Error('The analysis was aborted'))
    await this.#background.close()
    await Promise.all(this.#inFlight.values())
    // If the database cannot be reached, the lease expires by itself.
    await this.#options.lease.release().catch(() => undefined)
  }

  /** Resolves to the time until the queue is read again, unless something is written earlier; null if it is empty. */
  async #begin(): Promise<number | null> {
    const { queue, lease, now } = this.#options
    if (await queue.isEmpty()) return null
    if (!(await lease.take())) return lookEveryMs
    await queue.refill()
    const waiting = await queue.waiting()
    const next = Math.max(this.#busyUntil, waiting[0]?.dueAt ?? 0)
    if (next <= now()) for (const due of await this.#choose(waiting)) this.#run(due)
    return Math.min(Math.max(0, next - now()) || lookEveryMs, lookEveryMs)
  }

  /** As many calls as there is room for, each project in its turn. */
  async #choose(waiting: Awaited<ReturnType<AnalysisQueue['waiting']>>): Promise<DueCall[]> {
    const { queue, requestsAtOnce, now } = this.#options
    const room = 2 * requestsAtOnce - this.#inFlight.size
    const ready = waiting.filter(({ dueAt }) => dueAt <= now())
    if (room <= 0 || ready.length === 0) return []
    const hadTurn = ({ projectId }: { projectId: number }) => Number(projectId <= this.#lastProjectId)
    const next = ready.sort((a, b) => hadTurn(a) - hadTurn(b) || a.projectId - b.projectId).slice(0, room)
    this.#lastProjectId = next.at(-1)?.projectId ?? 0
    const seqs = [...this.#inFlight.keys()].map(({ seq }) => seq)
    const lists = await Promise.all(
      next.map(async ({ projectId, isPaused }) => {
        const running = [...this.#inFlight.keys()].filter((due) => due.projectId === projectId).length
        const limit = isPaused ? 1 - Math.min(1, running) : Math.ceil(room / next.length)
        return limit > 0 ? await queue.due(projectId, seqs, limit) : []
      }),
    )
    const turns = lists
      .flatMap((list) => list.map((due, turn) => ({ due, turn })))
      .sort((a, b) => a.turn - b.turn)
    const chosen = new Map(turns.map(({ due }) => [due.seq, due]))
    return [...chosen.values()].slice(0, room)
  }

  #run(due: DueCall): void {
    const { queue, log, now } = this.#options
    const running = this.#attempt(due)
      .catch(async (error) => {
        if (this.#aborting.signal.aborted || error instanceof ProjectWasDeleted) return
        log.warn({ error }, 'The analysis of a call failed and will be tried again')
        await queue.postpone(due, now() + retryMsMax, false).catch(() => {
          // No answer could be stored.
          this.#busyUntil = now() + retryMsMax
        })
      })
      .finally(() => {
        this.#inFlight.delete(due)
        // Some at a time, since the queue is read for each look.
        const { requestsAtOnce } = this.#options
        if (!this.#aborting.signal.aborted && this.#inFlight.size <= 1.5 * requestsAtOnce)
          this.#background.soon(0)
      })
    this.#inFlight.set(due, running)
  }

  async #attempt(due: DueCall): Promise<void> {
    const { judge, queue, budget, outcomes } = this.#options
    const { signal } = this.#aborting
    const question = await judge.question(due)
    if (!question) return await queue.drop(due, 'skipped')
    const { call, rubric, tokensPerMonth, skippedFor } = question
    if (skippedFor !== null) {
      const judgement = { state: 'skipped', reason: skippedFor, tokens: noTokens, requests: 0 } as const
      return await outcomes.store(due, { call, rubric, judgement, redacted: {} })
    }
    const { projectId } = due
    const reserved = await budget.reserve(projectId, tokensPerMonth, estimateOf(question))
    if (!reserved) {
      const detail = `The budget of ${tokensPerMonth} tokens a month is used up. A larger one in the rubric goes on at once.`
      return await budget.pause(projectId, 'budget', detail)
    }
    try {
      const judged = await judge.ask(projectId, question, signal)
      this.#busyMs = busyMsMin
      this.#noteModel(null)
      await outcomes.store(due, judged)
    } catch (error) {
      if (!(error instanceof ModelUnavailable)) throw error
      // It was sent all the same.
      if (signal.aborted) return await outcomes.spend(projectId, question.call.id, error)
      return await this.#wait(due, question, error)
    } finally {
      reserved.release()
    }
    // Once its tokens are free: what it was given may be enough for others.
    await budget.resume(projectId)
  }

  /** What follows when the model cannot be asked now. */
  async #wait(due: DueCall, question: Question, error: ModelUnavailable): Promise<void> {
    const { queue, budget, outcomes, now } = this.#options
    const { reason, detail, retryAfterMs, isOfCall } = error
    await outcomes.spend(due.projectId, question.call.id, error)
    if (reason === 'busy') {
      this.#busyUntil = now() + Math.min(retryAfterMs ?? this.#busyMs, busyMsMax)
      this.#busyMs = Math.min(2 * this.#busyMs, busyMsMax)
      return
    }
    if (isOfCall && due.attempts + 1 >= attemptsMax) return await outcomes.fail(due, question, detail)
    await queue.postpone(due, now() + retryMsMax, isOfCall)
    await budget.pause(due.projectId, reason, detail)
    this.#noteModel(error)
  }

  /** Logs once that the model cannot be used, and once that it can again. */
  #noteModel(problem: ModelUnavailable | null): void {
    if (this.#isModelAway === (problem !== null)) return
    this.#isModelAway = problem !== null
    const { log } = this.#options
    if (problem === null) log.info('The analysis model can be used again')
    else log.warn({ problem: problem.detail }, 'The analysis model cannot be used, so calls wait for it')
  }
}

const noTokens = { prompt: 0, completion: 0 }
