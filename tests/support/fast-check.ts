import fc from 'fast-check'

// Half of a test's time, so that the search for the smallest example ends with time left to print it. On a busy machine
// fewer cases are tried.
fc.configureGlobal({ interruptAfterTimeLimit: 30_000 })

/** Options of a property that is tried so often in each run; FUZZ_TIMES=10 is ten times as much, by hand. */
export const runs = (times: number) => ({ numRuns: times * Number(process.env.FUZZ_TIMES ?? 1) })

export default fc
