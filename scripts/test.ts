import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

// Runs the tests, several files at a time: all of them, or with --fast only the quick ones. Other arguments go to
// `bun test`, such as `bun run test tests/http` or `bun run test:fast --bail`. `bun run test --update-timings` writes
// the duration of each file to tests/timings.json.

const root = fileURLToPath(new URL('..', import.meta.url))
/** A test file that contains one of these names starts processes, a browser or a database server, or mounts a disk. */
const processStarts =
  /\b(child_process|Bun\.spawn|spawnService|runScript|runTorture|startPrimary|CommandLine|openBrowser|startInBrowser|startConsoleInBrowser|mountSmallDisk|setReadOnly)\b/
/** Slow for other reasons: faults, random requests, thousands of real records. */
const slowPaths = /^tests\/(faults|properties)\/|\/(real-data|migrations)\.test\.ts$/

/** A file that Bun did not finish, since a process of its runner crashed. */
const stopped = /^✗ (\S+) \((?:aborted: |worker crashed: SIG(?!KILL)).*\)$/gm
const crashLine = /^(?:panic.*|\s*https:\/\/bun\.report\/.*|error: a test worker process crashed.*)$/gm

const isFast = process.argv[2] === '--fast'
const given = process.argv.slice(isFast ? 3 : 2)
const slowFiles = isFast ? [...new Bun.Glob('tests/**/*.test.ts').scanSync({ cwd: root })].filter(isSlow) : []
const options = [
  // A test waits for timers and other processes more than half of its time: two files for each core keep it busy.
  `--parallel=${availableParallelism() * 2}`,
  '--timeout=60000',
  // The slowest files start first, so that no core is idle at the end.
  '--timings=tests/timings.json',
]
// Programs that tests kill, such as browsers, cannot clean up after themselves.
const temporary = mkdtempSync(join(tmpdir(), 'callbook-'))
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
const ignored = slowFiles.map((path) => `--path-ignore-patterns=${path}`)
const first = await runTests([...ignored, ...given])
const unfinished = [...first.output.matchAll(stopped)].map(([, path = '']) => path)
if (unfinished.length === 0) process.exit(first.status)
// When a process of its runner crashes, Bun ends the others and begins no other file. The services that tests end by a
// signal are processes of their own.
const again = await runTests(unfinished)
const crash = first.output.match(crashLine) ?? []
console.error(
  `\n${crash.join('\n')}\nSo the ${unfinished.length} test files that were not finished were run again.`,
)
process.exit(/^\(fail\)/m.test(first.output) ? 1 : again.status)

async function runTests(args: readonly string[]): Promise<{ status: number; output: string }> {
  const color = process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}
  const child = spawn(process.execPath, ['test', ...options, ...args], {
    cwd: root,
    stdio: ['inherit', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: temporary, ...color },
  })
  let output = ''
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from.on('data', (data: Buffer) => {
      output += stripVTControlCharacters(data.toString())
      to.write(data)
    })
  }
  const [code] = await once(child, 'close')
  return { status: code ?? 1, output }
}

function isSlow(path: string): boolean {
  return slowPaths.test(path) || processStarts.test(readFileSync(join(root, path), 'utf8'))
}
