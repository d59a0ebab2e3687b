import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { atEnd } from './at-end.ts'

export interface SpawnedService {
  child: ChildProcess
  /** Where it listens; empty when it ended before it did. */
  url: string
  /** The key it printed; empty when it printed none. */
  key: string
  stdout: () => string
  stderr: () => string
  /** Its exit code, once it has ended; null when a signal ended it. */
  ended: Promise<number | null>
  /** Sends the signal and waits for the end. At the end of the file it gets SIGTERM. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const printedWithinMs = 40_000

/**
 * Starts the service with only these settings. Resolves when it listens or has ended.
 * @param command what starts it: `bun src/main.ts` unless given
 */
export async function spawnService(
  env: Record<string, string>,
  command: readonly string[] = [process.execPath, main],
): Promise<SpawnedService> {
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    env: { PATH, HOME, ...(TMPDIR ? { TMPDIR } : {}), PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data) => {
    stdout += data
  })
  child.stderr.on('data', (data) => {
    stderr += data
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return ended
  }
  atEnd(() => stop())
  await Promise.race([ended, printed(() => stdout, /Embeddings .*\n\n(.*\n)?/s)])
  return {
    child,
    url: /Callbook +(\S+)/.exec(stdout)?.[1] ?? '',
    key: /API key +(\S+)/.exec(stdout)?.[1] ?? '',
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    stop,
  }
}

/** Waits until the text matches. Gives up silently, since a missing text fails the test that needs it. */
export async function printed(
  text: () => string,
  pattern: RegExp,
  withinMs = printedWithinMs,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!pattern.test(text()) && performance.now() < deadline) await Bun.sleep(10)
}
