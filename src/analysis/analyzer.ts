import type { Core } from '../core/core.ts'
import type { Job, Turn } from '../core/jobs.ts'
import { ProjectWasDeleted } from '../errors.ts'
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

interface AnalyzerParts {
  queue: AnalysisQueue
  budget: Budget
  judge: CallJudge
  outcomes: Outcomes
  /** So many requests run at once; twice as many calls are read and stored meanwhile. */
  requestsAtOnce: number
}

/** Analyzes the calls of the queue, in the process that owns the folder: some at once, with the projects taking turns. */
export class Analyzer {
  readonly #parts: Core & AnalyzerParts
  readonly #job: Job<DueCall>
  /** The project that had the last turn: those with a larger id are next, then it begins again. */
  #lastProjectId = 0
  /** No request is made before: the server has asked for that, or the database takes no writes. */
  #busyUntil = 0
  #busyMs = busyMsMin
  #isModelAway = false

  constructor(core: Core, parts: AnalyzerParts) {
    this.#parts = { ...core, ...parts }
    this.#job = core.jobs.add<DueCall>({
      name: 'analyses',
      run: (turn) => this.#begin(turn),
      // What was paused is tried at once.
      prepare: () => parts.budget.tryAll(),
      delayMs: lookDelayMs,
      commitMs: lookDelayMs,
      retryMsMax,
      failure: 'Reading the queue of calls to analyze failed',
      level: 'warn',
    })
  }

  /** Whether a call is being analyzed by this process. */
  isRunning(seq: number): boolean {
    return this.#job.underWay.some((due) => due.seq === seq)
  }

  /** Resolves to the time until the queue is read again, unless something is written earlier; null if it is empty. */
  async #begin({ isMine }: Turn): Promise<number | null> {
    const { queue, requestsAtOnce, now } = this.#parts
    // Some at a time, since the queue is read for each look.
    if (this.#job.underWay.length > 1.5 * requestsAtOnce) return lookEveryMs
    if (await queue.isEmpty()) return null
    if (!(await isMine())) return lookEveryMs
    await queue.refill()
    const projects = await queue.waiting()
    const next = Math.max(this.#busyUntil, projects[0]?.dueAt ?? 0)
    if (next <= now())
      for (const due of await this.#choose(projects)) this.#job.begin(due, () => this.#attemptOrPostpone(due))
    return Math.min(Math.max(0, next - now()) || lookEveryMs, lookEveryMs)
  }

  /** Returns as many calls as there is room for, each project in its turn. */
  async #choose(projects: Awaited<ReturnType<AnalysisQueue['waiting']>>): Promise<DueCall[]> {
    const { queue, requestsAtOnce, now } = this.#parts
    const room = 2 * requestsAtOnce - this.#job.underWay.length
    const ready = projects.filter(({ dueAt }) => dueAt <= now())
    if (room <= 0 || ready.length === 0) return []
    const hadTurn = ({ projectId }: { projectId: number }) => Number(projectId <= this.#lastProjectId)
    const next = ready.sort((a, b) => hadTurn(a) - hadTurn(b) || a.projectId - b.projectId).slice(0, room)
    this.#lastProjectId = next.at(-1)?.projectId ?? 0
    const seqs = this.#job.underWay.map(({ seq }) => seq)
    const lists = await Promise.all(
      next.map(async ({ projectId, isPaused }) => {
        const running = this.#job.underWay.filter((due) => due.projectId === projectId).length
        const limit = isPaused ? 1 - Math.min(1, running) : Math.ceil(room / next.length)
        return limit > 0 ? await queue.due(projectId, seqs, limit) : []
      }),
    )
    const turns = lists
      .flatMap((list) => list.map((due, turn) => ({ due, turn })))
      .sort((a, b) => a.turn - b.turn)
    const bySeq = new Map(turns.map(({ due }) => [due.seq, due]))
    return [...bySeq.values()].slice(0, room)
  }

  async #attemptOrPostpone(due: DueCall): Promise<void> {
    const { queue, log, now } = this.#parts
    try {
      await this.#attempt(due)
    } catch (error) {
      if (this.#job.signal.aborted || error instanceof ProjectWasDeleted) return
      log.warn({ error }, 'The analysis of a call failed and will be tried again')
      await queue.postpone(due, now() + retryMsMax, false).catch(() => {
        // No answer could be stored.
        this.#busyUntil = now() + retryMsMax
      })
    }
  }

  async #attempt(due: DueCall): Promise<void> {
    const { judge, queue, budget, outcomes } = this.#parts
    const { signal } = this.#job
    const question = await judge.question(due)
    if (!question) return await queue.drop(due, 'skipped')
    const { call, rubric, tokensPerMonth, skippedFor } = question
    if (skippedFor !== null) {
      const judgement = { state: 'skipped', reason: skippedFor, tokens: noTokens, requests: 0 } as const
      return await outcomes.store(due, { call, rubric, judgement, redacted: {} })
    }
    const { projectId } = due
    const reservation = await budget.reserve(projectId, tokensPerMonth, estimateOf(question))
    if (!reservation) {
      const detail = `The budget of ${tokensPerMonth} tokens a month is used up. A larger one in the rubric goes on at once.`
      return await budget.pause(projectId, 'budget', detail)
    }
    try {
      const result = await judge.ask(projectId, question, signal)
      this.#busyMs = busyMsMin
      this.#noteModel(null)
      await outcomes.store(due, result)
    } catch (error) {
      if (!(error instanceof ModelUnavailable)) throw error
      // It was sent all the same.
      if (signal.aborted) return await outcomes.spend(projectId, question.call.id, error)
      return await this.#wait(due, question, error)
    } finally {
      reservation.release()
    }
    // Once its tokens are free: what it was given may be enough for others.
    await budget.resume(projectId)
  }

  /** What follows when the model cannot be asked now. */
  async #wait(due: DueCall, question: Question, error: ModelUnavailable): Promise<void> {
    const { queue, budget, outcomes, now } = this.#parts
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
    const { log } = this.#parts
    if (problem === null) log.info('The analysis model can be used again')
    else log.warn({ problem: problem.detail }, 'The analysis model cannot be used, so calls wait for it')
  }
}

const noTokens = { prompt: 0, completion: 0 }
