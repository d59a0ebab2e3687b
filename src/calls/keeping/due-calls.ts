import type { Turn } from '../../core/jobs.ts'
import { inSlices } from '../../db/slices.ts'

/** How many characters of documents a slice writes, in about 10 ms of the writer's time. */
const sliceChars = 400_000
/** How many calls are read at once. */
export const dueCallsMax = 100

interface DueCallsOptions<Call> {
  /** The next calls that are due, after the previous ones. */
  read: (last: Call | undefined) => Promise<Call[]>
  /** Returns false to stop. */
  write: (slice: Call[]) => Promise<boolean>
  turn: Turn
}

/**
 * Writes the calls that are due in slices, which leave half of the writer's time to other writes.
 * @returns whether all are done
 */
export async function writeDueCalls<Call extends { chars: number }>({
  read,
  write,
  turn,
}: DueCallsOptions<Call>): Promise<boolean> {
  for (let last: Call | undefined; ; ) {
    const due = await read(last)
    if (due.length === 0) return true
    last = due.at(-1)
    const sizes = due.map(({ chars }, at) => [at, chars] as const)
    for (const positions of inSlices(sizes, sliceChars)) {
      if (!(await write(positions.flatMap((at) => due[at] ?? [])))) return false
      await turn.rest()
    }
  }
}
