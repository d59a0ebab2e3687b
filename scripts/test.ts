import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Runs the tests, their files side by side: all of them, or with --fast those for the inner loop. Whatever else is given
// goes to `bun test`, such as `bun run test tests/http` or `bun run test:fast --bail`.

const root = fileURLToPath(new URL('..', import.meta.url))
/** What a test file names when it starts processes, a browser or a database server, or mounts a disk. */
const processStarts =
  /\b(child_process|Bun\.spawn|spawnService|runScript|runTorture|startPrimary|openBrowser|mountSmallDisk|setReadOnly)\b/
/** Files that take long in one process, too: faults, random requests, thousands of real records, hashed passwords. */
const slowPaths =
  /^tests\/(faults|properties)\/|\/(real-data|migrations)\.test\.ts$|^tests\/console\/(sign-in|people|links)\.test\.ts$/

const isFast = process.argv[2] === '--fast'
const given = process.argv.slice(isFast ? 3 : 2)
const leftOut = isFast ? [...new Bun.Glob('tests/**/*.test.ts').scanSync({ cwd: root })].filter(isSlow) : []
const args = [
  'test',
  // Tests often wait, for a timer or another process: one more file than there are cores keeps the cores busy.
  `--parallel=${availableParallelism() + 1}`,
  '--timeout=60000',
  // With the durations of earlier runs the slowest files start first.
  '--timings=node_modules/.cache/callbook/test-timings.json',
  '--update-timings',
  ...leftOut.map((path) => `--path-ignore-patterns=${path}`),
  ...given,
]
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
process.exit(status ?? 1)

function isSlow(path: string): boolean {
  return slowPaths.test(path) || processStarts.test(readFileSync(join(root, path), 'utf8'))
}
