import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Runs the tests, several files at a time: all of them, or with --fast only the quick ones. Other arguments go to
// `bun test`, such as `bun run test tests/http` or `bun run test:fast --bail`. `bun run test --update-timings` writes
// the duration of each file to tests/timings.json.

const root = fileURLToPath(new URL('..', import.meta.url))
/** A test file that contains one of these names starts processes, a browser or a database server, or mounts a disk. */
const processStarts =
  /\b(child_process|Bun\.spawn|spawnService|runScript|runTorture|startPrimary|CommandLine|openBrowser|startInBrowser|startConsoleInBrowser|mountSmallDisk|setReadOnly)\b/
/** Slow for other reasons: faults, random requests, thousands of real records, hashed passwords. */
const slowPaths =
  /^tests\/(faults|properties)\/|\/(real-data|migrations)\.test\.ts$|^tests\/console\/(sign-in|people|links)\.test\.ts$/

const isFast = process.argv[2] === '--fast'
const given = process.argv.slice(isFast ? 3 : 2)
const slowFiles = isFast ? [...new Bun.Glob('tests/**/*.test.ts').scanSync({ cwd: root })].filter(isSlow) : []
const args = [
  'test',
  // A test waits for timers and other processes more than half of its time: two files for each core keep it busy.
  `--parallel=${availableParallelism() * 2}`,
  '--timeout=60000',
  // The slowest files start first, so that no core is idle at the end.
  '--timings=tests/timings.json',
  ...slowFiles.map((path) => `--path-ignore-patterns=${path}`),
  ...given,
]
// Programs that tests kill, such as browsers, cannot clean up after themselves.
const temporary = mkdtempSync(join(tmpdir(), 'callbook-'))
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
const env = { ...process.env, TMPDIR: temporary }
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env })
process.exit(status ?? 1)

function isSlow(path: string): boolean {
  return slowPaths.test(path) || processStarts.test(readFileSync(join(root, path), 'utf8'))
}
