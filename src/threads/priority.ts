import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Lowers this thread's priority. On Linux, each thread has its own. @param niceness 0 is normal, 19 the lowest */
export function lowerPriority(niceness: number): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), niceness)
  } catch {
    // Not on Linux, or not permitted: the thread keeps its priority.
  }
}
