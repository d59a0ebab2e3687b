import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

// Runs the tests, several files at a time: all of them, or with --fast only the quick ones, or one of three parts:
// --core, --browser, --platform. Other arguments go to `bun test`, such as `bun run test tests/http` or
// `bun run test:fast --bail`. `bun run test --update-timings` writes the duration of each file to tests/timings.json.

const root = fileURLToPath(new URL('..', import.meta.url))
/** A test file that contains one of these names starts processes, a browser or a database server, or mounts a disk. */
const processStarts =
  /\b(child_process|Bun\.spawn|spawnService|runScript|runTorture|startPrimary|CommandLine|openBrowser|startInBrowser|startConsoleInBrowser|mountSmallDisk|setReadOnly)\b/
/** Slow for other reasons: faults, random requests, thousands of real records. */
const slowPaths = /^tests\/(faults|properties)\/|\/(real-data|migrations)\.test\.ts$/

/** The core's tests have had 1.4 GB in use: libSQL closes files long after they are deleted. */
const memoryBytesMin = 4_000_000_000

/** A file that Bun did not finish, since a process of its runner crashed. */
const stopped = /^✗ (\S+) \((?:aborted: |worker crashed: SIG(?!KILL)).*\)$/gm
const crashLine = /^(?:panic.*|\s*https:\/\/bun\.report\/.*|error: a test worker process crashed.*)$/gm

/** Runtimes, packages, other programs, replicas, kills, faults. */
const platformPaths =
  /^tests\/(replicas|faults|properties)\/|\/(kills|build-[a-z]+|torture|byte-search|retrievers|clients|processes|other-programs|frameworks|livekit-sdk|livekit-receiver|exporters|bucket|consumer|backup|migrations|restore-erasures|restored-tables|primary|upgrades|runtimes|main|dockerfile|release|readme|huggingface|local|audit-dependencies|log-length|checkpoints|large)\.test\.ts$/
const parts: Record<string, (path: string) => boolean> = {
  '--fast': (path) => !isSlow(path),
  '--core': (path) => partOf(path) === '--core',
  '--browser': (path) => partOf(path) === '--browser',
  '--platform': (path) => partOf(path) === '--platform',
}
const isIn = parts[process.argv[2] ?? '']
const given = process.argv.slice(isIn ? 3 : 2)
const others = isIn
  ? [...new Bun.Glob('tests/**/*.test.ts').scanSync({ cwd: root })].filter((path) => !isIn(path))
  : []
const options = [
  // A test waits for timers and other processes more than half of its time: two files for each core keep it busy.
  `--parallel=${availableParallelism() * 2}`,
  '--timeout=60000',
  // The slowest files start first, so that no core is idle at the end.
  '--timings=tests/timings.json',
]
// Programs that tests kill, such as browsers, cannot clean up after themselves.
// What does not test durability keeps its data in memory where there is room: nothing waits for a disk.
const memory = '/dev/shm'
const memoryFreeBytes = existsSync(memory) ? statfsSync(memory).bavail * statfsSync(memory).bsize : 0
const isInMemory = process.argv[2] === '--core' && memoryFreeBytes > memoryBytesMin
const temporary = mkdtempSync(join(isInMemory ? memory : tmpdir(), 'callbook-'))
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
const ignored = others.map((path) => `--path-ignore-patterns=${path}`)
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

function partOf(path: string): string {
  if (path.endsWith('.browser.test.ts')) return '--browser'
  return platformPaths.test(path) ? '--platform' : '--core'
}

function isSlow(path: string): boolean {
  return slowPaths.test(path) || processStarts.test(readFileSync(join(root, path), 'utf8'))
}
