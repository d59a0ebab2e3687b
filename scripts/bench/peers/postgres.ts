import { execFileSync } from 'node:child_process'
import { chownSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, startProgram } from '../../processes.ts'
import { temporaryFolder } from '../../temporary.ts'
import { type Peer, requestsBelow } from './peer.ts'

const server = fileURLToPath(new URL('postgres-server.ts', import.meta.url))

/** Debian's Postgres behind a plain server; a sentence when it is not installed. */
export async function startPostgres(): Promise<Peer | string> {
  const programs = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)
  if (!programs) return 'Postgres is not installed: apt-get install postgresql.'
  const folder = temporaryFolder('run')
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
    chownSync(folder, idOf('-u'), idOf('-g'))
  }
  // Postgres refuses to run as root. It ends with its parent, however that ends.
  const user = isRoot ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : []
  const launcher = [...user, '--pdeathsig', 'INT']
  const data = join(folder, 'data')
  execFileSync(
    'setpriv',
    [...launcher, join(programs, 'initdb'), '-D', data, '-U', 'postgres', '--auth=trust'],
    { cwd: folder, stdio: 'ignore' },
  )
  const [key, port] = [crypto.randomUUID(), String(await freePort())]
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'log_min_messages=fatal',
  ].flatMap((setting) => ['-c', setting])
  const postgres = ['setpriv', ...launcher, join(programs, 'postgres'), '-D', data, ...settings]
  const running = await startProgram(process.execPath, [server, key, port, ...postgres], {
    address: /^(http\S+)/m,
  })
  const command = (sql: string) => {
    execFileSync(join(programs, 'psql'), ['-h', '127.0.0.1', '-p', port, '-U', 'postgres', '-qc', sql])
  }
  return {
    ...running,
    name: 'Postgres',
    key,
    requests: requestsBelow('/calls'),
    analyze: () => command('vacuum analyze calls'),
    checkpoint: () => command('checkpoint'),
  }
}
