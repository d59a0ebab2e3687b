import { loadConfig } from './config.ts'
import { openLog } from './observability/log.ts'
import { readArguments } from './start/arguments.ts'
import {
  fail,
  type Listener,
  type ListenOptions,
  onEndSignals,
  type StartOptions,
  start,
} from './start/start.ts'
import { Supervisor, workerVariable } from './start/supervisor.ts'

// Starts the service on Bun; the only file that knows it.

const workersMax = 64
/** How long a connection may be silent while its client waits for changes. */
const silentSecondsMin = 60

try {
  const worker = process.env[workerVariable]
  // A worker gets no options, but an executable's gets the name of its program.
  const { workers, isDemo } =
    worker === undefined ? readArguments({ workersMax }) : { workers: 1, isDemo: false }
  if (workers > 1) await supervise(workers)
  else await startOnBun({ worker: worker === undefined ? null : Number(worker), isDemo })
} catch (error) {
  fail(error)
}

/** Runs several processes on one port and one folder. */
async function supervise(workers: number): Promise<void> {
  const config = loadConfig(process.env, process.stdout.isTTY === true)
  const { log, close: closeLog } = await openLog({ level: config.logLevel, format: config.logFormat })
  const supervisor = new Supervisor({ program: import.meta.path, workers, env: process.env, log })
  const stop = async () => {
    await supervisor.stop()
    await closeLog()
    process.exit(0)
  }
  onEndSignals(stop, () => supervisor.kill())
  const failure = await supervisor.start()
  if (failure !== null) {
    await closeLog()
    process.exit(failure)
  }
}

async function startOnBun(options: StartOptions): Promise<void> {
  let server: ReturnType<typeof Bun.serve> | undefined
  let silentSeconds = silentSecondsMin
  const listen = async (options: ListenOptions): Promise<Listener> => {
    const { port, host, sharesPort, keepAliveSeconds, fetch } = options
    const listening = Bun.serve({
      port,
      hostname: host,
      reusePort: sharesPort,
      // Node sets this header itself. It keeps clients from sending a request into a connection that is closing.
      fetch: async (request) => {
        const answer = await fetch(request)
        answer.headers.set('Keep-Alive', `timeout=${keepAliveSeconds}`)
        return answer
      },
      // The service limits bodies itself, since Bun answers a large one with a bare 413.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: keepAliveSeconds,
    })
    server = listening
    silentSeconds = Math.max(silentSecondsMin, keepAliveSeconds)
    return {
      origin: listening.url.origin,
      port: listening.port ?? port,
      drain: () => listening.stop(),
      close: () => listening.stop(true),
    }
  }
  const peerAddress = (request: Request) => server?.requestIP(request)?.address ?? null
  const keepOpen = (request: Request) => server?.timeout(request, silentSeconds)
  await start({ listen, peerAddress, keepOpen }, options)
}
