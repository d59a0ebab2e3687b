import { bootstrap } from './bootstrap.ts'
import { ConfigError, loadConfig } from './config.ts'
import { openLog } from './observability/log.ts'
import { createServer } from './server.ts'
import { openServices } from './services.ts'
import { startBanner } from './start-banner.ts'

// Starts the service on Bun; the only file that knows it.

const closeWithinMs = 10_000
const idleTimeoutSeconds = 30

try {
  await main()
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : `Callbook cannot start: ${messageOf(error)}`)
  process.exit(1)
}

async function main(): Promise<void> {
  process.umask(0o077)
  const config = loadConfig(process.env, process.stdout.isTTY === true)
  const { log, close: closeLog } = openLog({ level: config.logLevel, format: config.logFormat })
  const services = await openServices({ config, log, role: 'service' })
  const first = await bootstrap(services)

  const app = createServer(services, (request) => server.requestIP(request)?.address ?? null)
  const server = Bun.serve({
    port: config.port,
    hostname: config.host,
    fetch: app.fetch,
    // Limits on bodies are ours: Bun's own answer to a large one is a bare 413.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: idleTimeoutSeconds,
  })
  process.stdout.write(startBanner({ services, first, address: server.url.origin }))

  const stop = async (signal: string) => {
    const deadline = setTimeout(() => {
      log.fatal({ signal }, 'Closing took too long')
      closeLog()
      process.exit(1)
    }, closeWithinMs)
    log.info({ signal }, 'closing')
    await server.stop()
    await services.close()
    clearTimeout(deadline)
    log.info({ signal }, 'closed')
    closeLog()
    process.exit(0)
  }
  process.once('SIGTERM', () => void stop('SIGTERM'))
  process.once('SIGINT', () => void stop('SIGINT'))

  await services.start()
  log.info({ address: server.url.origin }, 'ready')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
