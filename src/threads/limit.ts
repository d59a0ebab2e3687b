import { setTimeout as sleep } from 'node:timers/promises'

const minuteMs = 60_000

interface LimitOptions {
  /** How many run at once. */
  atOnce: number
  /** How many begin in a minute, evenly spread; 0 is no limit. */
  perMinute: number
}

/** Runs each work once there is room for it, in order. The function it returns rejects when the signal aborts. */
export function createLimit({ atOnce, perMinute }: LimitOptions) {
  let running = 0
  let readyAt = 0
  const waiting: (() => void)[] = []
  const place = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const take = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        waiting.splice(waiting.indexOf(take), 1)
        reject(signal.reason)
      }
      waiting.push(take)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  return async function run<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted()
    // Whoever ends hands its place to the first that waits.
    if (running < atOnce) running++
    else await place(signal)
    try {
      if (perMinute > 0) {
        const now = performance.now()
        readyAt = Math.max(readyAt, now) + minuteMs / perMinute
        await sleep(readyAt - minuteMs / perMinute - now, undefined, { signal })
      }
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
