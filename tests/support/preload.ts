import { afterAll, setDefaultTimeout } from 'bun:test'
import { closeOpened } from './at-end.ts'

// Bun loads this before the first file (bunfig.toml). `bun run test` ends each file with it, other runs the last one.

/** As in scripts/test.ts: some tests run processes, each of which takes a second on a busy machine. */
const timeoutMs = 120_000

setDefaultTimeout(timeoutMs)
afterAll(closeOpened, timeoutMs)
