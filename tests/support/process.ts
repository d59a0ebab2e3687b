import { resolve } from 'node:path'
import { atEnd, freshFolder } from './at-end.ts'

export const repository = resolve(import.meta.dir, '../..')

export interface ServiceProcess {
  url: string
  /** Everything it has printed on stdout so far. */
  banner: string
  dataDir: string
  pid: number
  exited: Promise<number>
  kill(signal: NodeJS.Signals): void
}

const startTimeoutMs = 40_000

/** The service as a process of its own, as `bun start` runs it, on a free port. Resolves when it is ready. */
export async function spawnService(
  env: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<ServiceProcess> {
  const dataDir = env.DATA_DIR ?? freshFolder()
  const child = Bun.spawn(['bun', 'src/main.ts', ...args], {
    cwd: repository,
    env: { ...process.env, PORT: '0', LOG_FORMAT: 'json', ...env, DATA_DIR: dataDir },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  atEnd(async () => {
    // Workers end with the service that started them, which SIGKILL would keep from telling them.
    child.kill('SIGTERM')
    await child.exited
  })
  const banner = await readUntil(child.stdout, /Embeddings .*\n/)
  const url = /Callbook +(http\S+)/.exec(banner)?.[1]
  if (!url) throw new Error(`The service printed no address:\n${banner}`)
  await untilReady(url)
  return { url, banner, dataDir, pid: child.pid, exited: child.exited, kill: (signal) => child.kill(signal) }
}

/** The processes that it has started, the oldest first. */
export function childrenOf({ pid }: Pick<ServiceProcess, 'pid'>): number[] {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'pid=', '--ppid', String(pid), '--sort', 'start_time'])
  return stdout.toString().trim().split(/\s+/).filter(Boolean).map(Number)
}

async function readUntil(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const part of stream) {
    text += decoder.decode(part, { stream: true })
    // The banner is written at once, but may arrive in parts: it ends with an empty line.
    if (pattern.test(text) && text.endsWith('\n\n')) return text
  }
  throw new Error(`The service ended before it was up:\n${text}`)
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs
  let answer = ''
  while (Date.now() < deadline) {
    const ready = await fetch(`${url}/ready`)
    if (ready.ok) return
    answer = await ready.text()
    await Bun.sleep(20)
  }
  throw new Error(`${url} did not become ready: ${answer}`)
}
