import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { killOnExit } from '../processes.ts'
import { repository } from '../repository.ts'

const readyWithinMs = 60_000
const pollMs = 10

/** The real service in a process that can be killed. */
export interface Victim {
  /** Its address, once it listens; null if it ended before. */
  address: Promise<string | null>
  /** What it printed. */
  printed(): string
  hasEnded(): boolean
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
}

export const settings = {
  EMBEDDING_PROVIDER: 'builtin',
  ERASE_WITHIN_MS: '1000',
  INDEX_WAIT_MS: '200',
  WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
}

/** Starts the service on the folder and appends its log to `dataDir`.log. @param program the checkout to run */
export function startVictim(dataDir: string, program = repository): Victim {
  const log = openSync(logOf(dataDir), 'a')
  const child = spawn(process.execPath, [join(program, 'src/main.ts')], {
    cwd: program,
    stdio: ['ignore', 'pipe', log],
    env: {
      PATH: process.env.PATH,
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_FORMAT: 'json',
      LOG_LEVEL: 'warn',
      ...settings,
    },
  })
  closeSync(log)
  killOnExit(child)
  let text = ''
  child.stdout?.on('data', (part) => {
    text += part
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    address: addressOf(child, () => text),
    printed: () => text,
    hasEnded,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export function logOf(dataDir: string): string {
  return `${dataDir}.log`
}

async function addressOf(child: ChildProcess, text: () => string): Promise<string | null> {
  const deadline = performance.now() + readyWithinMs
  while (child.exitCode === null && child.signalCode === null && performance.now() < deadline) {
    const url = /Embeddings [\s\S]*\n\n/.test(text()) ? /Callbook +(http\S+)/.exec(text())?.[1] : undefined
    if (url) return url
    await sleep(pollMs)
  }
  return null
}

/** Returns whether it became ready before it ended. */
export async function untilReady(url: string, { hasEnded }: Victim): Promise<boolean> {
  const deadline = performance.now() + readyWithinMs
  while (!hasEnded() && performance.now() < deadline) {
    const answer = await fetch(`${url}/ready`).catch(() => null)
    if (answer?.ok) return true
    await sleep(pollMs)
  }
  return false
}

export interface CommandResult {
  code: number | null
  out: string
  err: string
}

/** Runs a command of the command line on the folder. `kill` sends SIGKILL. */
export function startCommand(
  dataDir: string,
  args: string[],
): { done: Promise<CommandResult>; kill(): void } {
  let child: ChildProcess | undefined
  const done = new Promise<CommandResult>((resolve) => {
    const options = {
      cwd: repository,
      env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...settings },
      maxBuffer: 64 * 1024 * 1024,
    }
    const script = join(repository, 'scripts/callbook.ts')
    child = execFile(process.execPath, [script, ...args], options, (error, out, err) =>
      resolve({ code: error ? (typeof error.code === 'number' ? error.code : null) : 0, out, err }),
    )
  })
  return { done, kill: () => void child?.kill('SIGKILL') }
}
