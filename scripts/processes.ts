import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { repository } from './repository.ts'

const readyWithinMs = 120_000
const pollMs = 10
const stopWithinMs = 15_000

export interface Running {
  url: string
  pid: number
  /** From the start of the process until it was ready. */
  readyInMs: number
  /** What it has printed on stdout until it was ready. */
  banner: string
  stop(): Promise<void>
}

/** Starts the real service on a free port, with its log in the folder. @param tree another checkout, to compare with */
export async function startService(
  folder: string,
  environment: Record<string, string> = {},
  args: string[] = [],
  tree = repository,
): Promise<Running> {
  const logFile = join(folder, 'service.log')
  const log = openSync(logFile, 'w')
  const starting = startProgram(process.execPath, [join(tree, 'src/main.ts'), ...args], {
    address: /^\s*Callbook\s+(http\S+)/m,
    ready: '/ready',
    log,
    environment: {
      DATA_DIR: folder,
      PORT: '0',
      LOG_FORMAT: 'json',
      EMBEDDING_PROVIDER: 'builtin',
      ...environment,
    },
  })
  closeSync(log)
  return await starting.catch((error: Error) => {
    throw new Error(`${error.message}: ${readFileSync(logFile, 'utf8').slice(-500)}`)
  })
}

interface ProgramOptions {
  /** Where it listens, or how it prints that. */
  address: string | RegExp
  /** The path that answers once it is ready. */
  ready?: string
  environment?: Record<string, string>
  log?: number | 'inherit'
}

export async function startProgram(
  program: string,
  args: string[],
  { address, ready, environment, log = 'inherit' }: ProgramOptions,
): Promise<Running> {
  const startedAt = performance.now()
  const env = { PATH: process.env.PATH, ...environment }
  const child = spawn(program, args, { cwd: repository, stdio: ['ignore', 'pipe', log], env })
  killOnExit(child)
  let banner = ''
  child.stdout?.on('data', (part) => {
    banner += part
  })
  const url = await addressOf(child, address)
  if (ready) await untilReady(url + ready)
  if (child.pid === undefined) throw new Error(`${program} did not start`)
  return { url, pid: child.pid, readyInMs: performance.now() - startedAt, banner, stop: () => end(child) }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}

async function addressOf(child: ChildProcess, address: string | RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (part) => {
      text += part
      const found = address instanceof RegExp ? address.exec(text)?.[1] : undefined
      if (found) resolve(found.replace(/\/$/, ''))
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${child.spawnfile} ended at once, with code ${code}`)))
    if (typeof address === 'string') resolve(address)
  })
}

async function untilReady(url: string): Promise<void> {
  const deadline = performance.now() + readyWithinMs
  while (performance.now() < deadline) {
    const answer = await fetch(url).catch(() => null)
    if (answer?.ok) return
    await sleep(pollMs)
  }
  throw new Error(`${url} was not ready within ${readyWithinMs} ms`)
}

/** Kills the child when this process exits, so that nothing is left running. */
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
