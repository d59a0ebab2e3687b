import { unavailable } from '../errors.ts'

interface Job<Result> {
  result: Promise<Result>
  start(): void
}

/**
 * Does one job at a time, with the projects taking turns, so that a project waits for one job of each other project at
 * most, however many these have. A job that equals one of the same project's that has not begun shares its result: that
 * cannot be older than the request.
 */
export class FairQueue<Result> {
  /** The jobs that wait, by name, of the projects in the order of their turns. */
  readonly #waiting = new Map<number | null, Map<string, Job<Result>>>()
  readonly #waitingMax: number
  #isBusy = false

  /** @param waitingMax how many jobs of a project may wait */
  constructor(waitingMax = Number.POSITIVE_INFINITY) {
    this.#waitingMax = waitingMax
  }

  /**
   * @param projectId null for work of no project
   * @param name equal for equal jobs
   * @throws unavailable while too many jobs of the project wait
   */
  do(projectId: number | null, name: string, work: () => Promise<Result>): Promise<Result> {
    const jobs = this.#waiting.get(projectId) ?? new Map<string, Job<Result>>()
    const equal = jobs.get(name)
    if (equal) return equal.result
    if (jobs.size >= this.#waitingMax) throw unavailable('Too many such requests of the project wait.')
    let start = () => {}
    const turn = new Promise<void>((resolve) => {
      start = resolve
    })
    const result = turn.then(work).finally(() => {
      this.#isBusy = false
      this.#startNext()
    })
    this.#waiting.set(projectId, jobs.set(name, { result, start }))
    this.#startNext()
    return result
  }

  #startNext(): void {
    const [turn] = this.#waiting
    if (this.#isBusy || !turn) return
    const [projectId, jobs] = turn
    const [next] = jobs
    if (!next) throw new Error('A project without jobs has a turn')
    const [name, job] = next
    jobs.delete(name)
    this.#waiting.delete(projectId)
    if (jobs.size > 0) this.#waiting.set(projectId, jobs)
    this.#isBusy = true
    job.start()
  }
}
