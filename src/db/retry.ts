import { setTimeout as sleep } from 'node:timers/promises'

interface RetryOptions {
  withinMs: number
  /** About how long to wait between two attempts. */
  delayMs: number
  /** Whether to try again after this error. By default after any. */
  isWorthIt?: (error: unknown) => boolean
}

/** Tries again while `work` fails. @throws its last error once `withinMs` have passed */
export async function retry<Result>(
  work: () => Promise<Result>,
  { withinMs, delayMs, isWorthIt = () => true }: RetryOptions,
): Promise<Result> {
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() > deadline || !isWorthIt(error)) throw error
      await sleep(delayMs * (0.5 + Math.random()))
    }
  }
}
