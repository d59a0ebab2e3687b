import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, openSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { repository } from '../repository.ts'
import type { Dataset } from './dataset.ts'

const readyWithinMs = 120_000
const pollMs = 10
const commandWithinMs = 120_000
const stopWithinMs = 15_000

export interface Running {
  url: string
  pid: number
  /** From the start of the process to /ready. */
  readyInMs: number
  stop(): Promise<void>
}

/** Starts the real service on a free port, with its log in a file. */
export async function startService(
  main: string,
  { folder }: Pick<Dataset, 'folder'>,
  environment: Record<string, string> = {},
  args: string[] = [],
): Promise<Running> {
  const logFile = `${folder}/bench.log`
  const log = openSync(logFile, 'w')
  const startedAt = performance.now()
  const child = spawn(process.execPath, [main, ...args], {
    cwd: repository,
    stdio: ['ignore', 'pipe', log],
    env: {
      PATH: process.env.PATH,
      DATA_DIR: folder,
      PORT: '0',
      LOG_FORMAT: 'json',
      EMBEDDING_PROVIDER: 'builtin',
      ...environment,
    },
  })
  closeSync(log)
  killOnExit(child)
  const url = await printed(child, /^\s*Callbook\s+(http\S+)/m)
  await untilReady(`${url}/ready`)
  const readyInMs = performance.now() - startedAt
  const stop = async () => {
    await end(child)
    rmSync(logFile, { force: true })
  }
  return { url, pid: pidOf(child), readyInMs, stop }
}

export function startPageCeiling(
  { databaseFile, projectId }: Dataset,
  { limit, offset }: { limit: number; offset: number },
): Promise<Running> {
  return startScript('ceiling.ts', [databaseFile, String(projectId), 'page', String(limit), String(offset)])
}

/** Starts a script of this folder that prints its address. */
export async function startScript(name: string, args: string[]): Promise<Running> {
  const startedAt = performance.now()
  const script = fileURLToPath(new URL(name, import.meta.url))
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  killOnExit(child)
  const url = await printed(child, /^(http\S+)/m)
  return {
    url: url.replace(/\/$/, ''),
    pid: pidOf(child),
    readyInMs: performance.now() - startedAt,
    stop: () => end(child),
  }
}

/** Starts a program that answers at `url` once it is ready. */
export async function startProgram(
  program: string,
  args: string[],
  { url, ready }: { url: string; ready: string },
): Promise<Running> {
  const startedAt = performance.now()
  const child = spawn(program, args, { stdio: 'ignore' })
  killOnExit(child)
  await untilReady(url + ready)
  return { url, pid: pidOf(child), readyInMs: performance.now() - startedAt, stop: () => end(child) }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}

/** Resolves to the group of the pattern's first match in the child's output. */
function printed(child: ChildProcess, form: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (part) => {
      text += part
      const found = form.exec(text)?.[1]
      if (found) resolve(found)
    })
    child.once('error', reject)
    child.once('exit', (code) =>
      reject(new Error(`A process of the benchmark ended at once, with code ${code}`)),
    )
  })
}

async function untilReady(url: string): Promise<void> {
  const deadline = performance.now() + readyWithinMs
  while (performance.now() < deadline) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  throw new Error(`${url} was not ready within ${readyWithinMs} ms`)
}

/** Kills the child when this process exits, so that a failed benchmark leaves no service behind. */
export function killOnExit(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL')
  // Before the other listeners, so that nothing writes into folders that they remove.
  process.prependOnceListener('exit', kill)
  child.once('exit', () => process.off('exit', kill))
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const deadline = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
  child.kill('SIGTERM')
  await ended
  clearTimeout(deadline)
}

/** Runs a command of this repository and returns its standard output. @throws when it fails */
export function runCommand(args: string[], env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: repository, env: { PATH: process.env.PATH, ...env }, timeout: commandWithinMs }
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${args.join(' ')} failed: ${stderr}`, { cause: error }))
      else resolve(stdout)
    })
  })
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('A process of the benchmark did not start')
  return child.pid
}
