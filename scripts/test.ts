import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { findBrowser } from '../tests/support/browser-path.ts'
import { repository } from './repository.ts'
import { everyTestFile, halfOf, isFast, testFilesOfArea } from './test-files.ts'
import { readReport, skipsIn } from './test-report.ts'

// Runs the tests, several files at a time: all of them, or with --fast the quick ones, or one half: --core or --platform
// (tests/platform.json). `--area calls` leaves those of src/calls and of what depends on it; `--repeat 20` runs them so
// often beside two busy processes, and counts what failed. Other arguments go to `bun test`, such as
// `bun run test tests/http` or `bun run test:fast --bail`. `bun run test --update-timings` writes the duration of each
// file to tests/timings.json.

interface Place {
  isShown: boolean
  /** For what the tests make. */
  folder: string
}

interface Run {
  status: number
  output: string
}

const selections = {
  '--fast': isFast,
  '--core': (path: string) => halfOf(path) === 'core',
  '--platform': (path: string) => halfOf(path) === 'platform',
}
const memory = '/dev/shm'
/** The core's tests have had 1.4 GB in use: libSQL closes files long after they are deleted. */
const memoryBytesMin = 4_000_000_000
const repeatsMax = 1_000
const busyProcesses = 2

/** A file that Bun did not finish, since a process of its runner crashed. */
const stopped = /^✗ (\S+) \((?:aborted: |worker crashed: SIG(?!KILL)).*\)$/gm
const crashLine = /^(?:panic.*|\s*https:\/\/bun\.report\/.*|error: a test worker process crashed.*)$/gm

const given = process.argv.slice(2)
const area = takeValue('--area')
const repeats = takeValue('--repeat')
const chosen = Object.entries(selections).flatMap(([flag, isIn]) => (take(flag) ? [isIn] : []))
const inArea = area === null ? null : testFilesOfArea(area)
if (area !== null && inArea === null) fail(`There is no src/${area} and no src/${area}.ts.`)
if (repeats !== null && !(/^\d+$/.test(repeats) && Number(repeats) >= 1 && Number(repeats) <= repeatsMax))
  fail(`--repeat takes a number from 1 to ${repeatsMax}.`)
const hasBrowser = findBrowser() !== null
const files = everyTestFile()
const named = given.filter(
  (argument, at) =>
    !/^(-t|--test-name-pattern)$/.test(given[at - 1] ?? '') && files.some((path) => path.includes(argument)),
)
const chosenFiles = files.filter(
  (path) =>
    chosen.every((isIn) => isIn(path)) &&
    (inArea?.includes(path) ?? true) &&
    (named.length === 0 || named.some((argument) => path.includes(argument))) &&
    (hasBrowser || !path.endsWith('.browser.test.ts')),
)
/** A file that is none of the project's runs once, with the others. */
const isElsewhere = named.length === 0 && given.some((argument) => existsSync(argument))
/** Tests of kills, faults and processes. */
const alone = chosenFiles.filter(
  (path) => !isElsewhere && halfOf(path) === 'platform' && !path.endsWith('.browser.test.ts'),
)
const together = chosenFiles.filter((path) => !alone.includes(path))
if (chosenFiles.length === 0) fail('There is no such test file.')

const groups = [
  { paths: alone, isolation: '--isolate', parent: tmpdir() },
  // Sharing modules, and what was compiled of them, takes a quarter less processor time. Nothing waits for a disk.
  { paths: together, isolation: '--no-isolate', parent: hasMemory() ? memory : tmpdir() },
]
  .filter(({ paths }) => paths.length > 0)
  .map(({ parent, ...group }) => ({ ...group, folder: mkdtempSync(join(parent, 'callbook-')) }))
const children = new Set<ChildProcess>()
// Programs that tests kill, such as browsers, cannot clean up after themselves.
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const { folder } of groups) rmSync(folder, { recursive: true, force: true })
})

process.exit(repeats === null ? await runOnce() : await runOften(Number(repeats)))

async function runOnce(): Promise<number> {
  const { status, output } = await runTests({ isShown: true })
  const skips = skipsIn(readReport(output))
  if (!hasBrowser) skips.push('Skipped, there is no Chromium: every *.browser.test.ts')
  if (skips.length > 0) console.error(`\n${skips.join('\n')}`)
  return status
}

/** Runs the tests beside processes that use as much processor time as they get, and shows only what failed. */
async function runOften(times: number): Promise<number> {
  for (let i = 0; i < busyProcesses; i++)
    children.add(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  const failures = new Map<string, number>()
  for (let time = 1; time <= times; time++) {
    const { status, output } = await runTests({ isShown: false })
    const { results } = readReport(output)
    const failed = results.filter((result) => result.status === 'fail')
    console.error(
      `${time} of ${times}: ${results.length - failed.length} passed or skipped, ${failed.length} failed`,
    )
    for (const { file, name, printed } of failed) {
      console.error(`\n${file} > ${name}\n${printed}\n`)
      count(failures, `${file} > ${name}`)
    }
    if (failed.length > 0 || status === 0) continue
    console.error(output.trim())
    count(failures, 'the run itself, without a test that failed')
  }
  for (const [name, number] of failures) console.error(`failed ${number} of ${times}: ${name}`)
  if (failures.size === 0) console.error(`none of ${times} runs failed`)
  return failures.size === 0 ? 0 : 1
}

/** Runs the chosen tests in two groups, one after the other. */
async function runTests({ isShown }: { isShown: boolean }): Promise<Run> {
  const runs: Run[] = []
  for (const { paths, isolation, folder } of groups) {
    const left = files.filter((path) => !paths.includes(path))
    const ignored = left.map((path) => `--path-ignore-patterns=${path}`)
    runs.push(await runFinished([isolation, ...ignored, ...given], { isShown, folder }))
  }
  return {
    status: Math.max(...runs.map(({ status }) => status)),
    output: runs.map(({ output }) => output).join('\n'),
  }
}

function hasMemory(): boolean {
  if (!existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > memoryBytesMin
}

/** What Bun could not finish, since a process of its runner crashed, is run once more. */
async function runFinished(args: readonly string[], place: Place): Promise<Run> {
  const first = await runBun(args, place)
  const unfinished = [...first.output.matchAll(stopped)].map(([, path = '']) => path)
  if (unfinished.length === 0) return first
  // When a process of its runner crashes, Bun ends the others and begins no other file. The services that tests end by a
  // signal are processes of their own.
  const again = await runBun(unfinished, place)
  const crash = first.output.match(crashLine) ?? []
  console.error(
    `\n${crash.join('\n')}\nSo the ${unfinished.length} test files that were not finished were run again.`,
  )
  const hasFailed = /^\(fail\)/m.test(first.output)
  return { status: hasFailed ? 1 : again.status, output: `${first.output}\n${again.output}` }
}

async function runBun(args: readonly string[], { isShown, folder }: Place): Promise<Run> {
  const options = [
    // A test waits for timers and other processes more than half of its time: two files for each core keep it busy.
    `--parallel=${availableParallelism() * 2}`,
    '--timeout=120000',
    // The slowest files start first, so that no core is idle at the end.
    '--timings=tests/timings.json',
  ]
  const color = isShown && process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}
  const child = spawn(process.execPath, ['test', ...options, ...args], {
    cwd: repository,
    stdio: ['inherit', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: folder, ...color },
  })
  let output = ''
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from.on('data', (data: Buffer) => {
      output += stripVTControlCharacters(data.toString())
      if (isShown) to.write(data)
    })
  }
  const [code] = await once(child, 'close')
  return { status: code ?? 1, output }
}

/** Whether the flag is given; `bun test` does not see it. */
function take(flag: string): boolean {
  const place = given.indexOf(flag)
  if (place >= 0) given.splice(place, 1)
  return place >= 0
}

function takeValue(flag: string): string | null {
  const place = given.indexOf(flag)
  return place < 0 ? null : (given.splice(place, 2)[1] ?? fail(`${flag} needs a value.`))
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
