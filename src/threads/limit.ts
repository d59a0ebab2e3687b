import { setTimeout as sleep } from 'node:timers/promises'

const minuteMs = 60_000

interface LimitOptions {
  /** How many run at once. */
  atOnce: number
  /** How many begin in a minute, evenly spread; 0 is no limit. */
  perMinute: number
}

/**
 * Runs each work once there is room for it: the projects take turns, and the works of each are run in order. The function
 * it returns rejects when the signal aborts.
 */
export function createLimit({ atOnce, perMinute }: LimitOptions) {
  let running = 0
  let readyAt = 0
  /** Requests that wait, by project in the order of their turns. */
  const waiters = new Map<number, (() => void)[]>()
  const place = (projectId: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const own = waiters.get(projectId) ?? []
      const take = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        own.splice(own.indexOf(take), 1)
        reject(signal.reason)
      }
      own.push(take)
      waiters.set(projectId, own)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  const takeNext = () => {
    for (const [projectId, own] of waiters) {
      const next = own.shift()
      waiters.delete(projectId)
      if (own.length > 0) waiters.set(projectId, own)
      if (next) return next
    }
    return undefined
  }
  return async function run<Result>(
    projectId: number,
    work: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    signal.throwIfAborted()
    // Whoever ends hands its place to the next that waits.
    if (running < atOnce) running++
    else await place(projectId, signal)
    try {
      if (perMinute > 0) {
        const now = performance.now()
        readyAt = Math.max(readyAt, now) + minuteMs / perMinute
        await sleep(readyAt - minuteMs / perMinute - now, undefined, { signal })
      }
      return await work()
    } finally {
      const next = takeNext()
      if (next) next()
      else running--
    }
  }
}
