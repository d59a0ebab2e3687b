import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { bootstrap } from './bootstrap.ts'
import { ConfigError, loadConfig } from './config.ts'
import { openLog } from './observability/log.ts'
import { createServer } from './server.ts'
import { openServices } from './services.ts'
import { startBanner } from './start-banner.ts'
import { Supervisor, type WorkerListens, workerVariable } from './supervisor.ts'

// Starts the service on Bun; the only file that knows it.

const drainWithinMs = 7_000
const closeWithinMs = 10_000
const idleTimeoutSeconds = 30

const workersMax = 64
const options = { workers: { type: 'string' } } as const

try {
  const workers = readWorkers()
  const worker = process.env[workerVariable]
  if (workers > 1 && worker === undefined) await supervise(workers)
  else await main(worker === undefined ? null : Number(worker))
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : `Callbook cannot start: ${messageOf(error)}`)
  process.exit(1)
}

function readWorkers(): number {
  const { values } = parseArgs({ options })
  const count = Number(values.workers ?? '1')
  if (Number.isInteger(count) && count >= 1 && count <= workersMax) return count
  throw new ConfigError([`--workers must be a number from 1 to ${workersMax}`])
}

/** Several processes that share the port and the folder. */
async function supervise(workers: number): Promise<void> {
  const config = loadConfig(process.env, process.stdout.isTTY === true)
  const { log, close: closeLog } = openLog({ level: config.logLevel, format: config.logFormat })
  const supervisor = new Supervisor({ program: import.meta.path, workers, env: process.env, log })
  const stop = async () => {
    await supervisor.stop()
    closeLog()
    process.exit(0)
  }
  process.once('SIGTERM', () => void stop())
  process.once('SIGINT', () => void stop())
  const failure = await supervisor.start()
  if (failure !== null) process.exit(failure)
}

/** @param worker its number, when a supervisor has started it */
async function main(worker: number | null): Promise<void> {
  process.umask(0o077)
  const config = loadConfig(process.env, process.stdout.isTTY === true)
  const {
    log,
    recordRequest,
    close: closeLog,
  } = openLog({
    level: config.logLevel,
    format: config.logFormat,
  })
  const die = (error: unknown) => {
    log.fatal({ error }, 'Unexpected; the process ends')
    closeLog()
    process.exit(1)
  }
  process.on('uncaughtException', die)
  process.on('unhandledRejection', die)
  const services = await openServices({
    config,
    log,
    role: 'service',
    onDamage: die,
    ...(worker !== null && worker > 0 ? { ownerWaitMs: 0 } : {}),
  })

  const peerAddress = (request: Request) => server.requestIP(request)?.address ?? null
  const app = createServer(services, peerAddress, recordRequest)
  const server = Bun.serve({
    port: config.port,
    hostname: config.host,
    reusePort: worker !== null,
    fetch: app.fetch,
    // Limits on bodies are ours: Bun's own answer to a large one is a bare 413.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: idleTimeoutSeconds,
  })
  // Only now that nothing can fail any more: the key is shown once, by the start that made it.
  const first = await bootstrap(services)

  let isStopping = false
  const stop = async (signal: string) => {
    if (isStopping) return
    isStopping = true
    void setTimeout(closeWithinMs).then(() => die(new Error('Closing took too long')))
    log.info({ signal }, 'closing')
    await Promise.race([server.stop(), setTimeout(drainWithinMs)])
    await server.stop(true)
    await services.close()
    log.info({ signal }, 'closed')
    closeLog()
    process.exit(0)
  }
  process.once('SIGTERM', () => void stop('SIGTERM'))
  process.once('SIGINT', () => void stop('SIGINT'))
  if (worker !== null) {
    process.once('disconnect', () => void stop('the end of its supervisor'))
    process.send?.({ port: server.port ?? config.port } satisfies WorkerListens)
  }

  const isFirst = worker === null || worker === 0
  if (isFirst || first.firstKey || first.setupToken) {
    process.stdout.write(startBanner({ services, first, address: server.url.origin }))
  }
  try {
    await services.start()
    log.info({ address: server.url.origin }, 'ready')
  } catch (error) {
    // A signal that comes meanwhile closes what is still starting.
    if (!isStopping) throw error
  }
}

/** Of a failed query the cause: the message itself holds the values. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'query' in error && error.cause instanceof Error ? error.cause.message : error.message
}
