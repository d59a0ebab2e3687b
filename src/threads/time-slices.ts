import { setImmediate } from 'node:timers/promises'

/** Work that can pause wherever it yields. */
export type Work<Result> = Generator<undefined, Result, undefined>

const sliceMs = 5

/** Runs long work in slices of a few milliseconds, one after the other, so that other requests get a turn. */
export class TimeSlices {
  #last: Promise<unknown> = Promise.resolve()

  /** Short work is done at once. */
  async run<Result>(work: Work<Result>): Promise<Result> {
    let step = sliceOf(work)
    while (!step.done) {
      const next = this.#last.then(async () => {
        await setImmediate()
        return sliceOf(work)
      })
      this.#last = next.catch(() => undefined)
      step = await next
    }
    return step.value
  }
}

/** Runs all of the work without a pause. */
export function finished<Result>(work: Work<Result>): Result {
  let step = work.next()
  while (!step.done) step = work.next()
  return step.value
}

function sliceOf<Result>(work: Work<Result>): IteratorResult<undefined, Result> {
  const endsAt = performance.now() + sliceMs
  let step = work.next()
  while (!step.done && performance.now() < endsAt) step = work.next()
  return step
}
