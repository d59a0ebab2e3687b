import { afterAll, setDefaultTimeout } from 'bun:test'
import { closeOpened } from './at-end.ts'

// `bun run test` loads this before each file (bunfig.toml), and so ends each with it.

/** Some tests run processes, each of which takes a second on a busy machine. */
const timeoutMs = 120_000

setDefaultTimeout(timeoutMs)
afterAll(closeOpened, timeoutMs)
