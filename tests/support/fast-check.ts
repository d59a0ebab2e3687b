import fc from 'fast-check'

// Half of a test's time, so that the search for the smallest example ends with time left to print it. On a busy machine
// fewer cases are tried.
fc.configureGlobal({ interruptAfterTimeLimit: 30_000 })

export default fc
