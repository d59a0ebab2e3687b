import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lets other threads go before this one: on Linux a thread has a priority of its own.
 * @param niceness 0 is normal, 19 the lowest
 */
export function lowerPriority(niceness: number): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), niceness)
  } catch {
    // Not on Linux, or not allowed: the thread then competes on equal terms.
  }
}
