import { setTimeout } from 'node:timers/promises'
import { type Config, ConfigError, loadConfig } from '../config.ts'
import { isEmptyFile } from '../db/unusable.ts'
import { AppError } from '../errors.ts'
import type { PeerAddress } from '../http/client-address.ts'
import { type OpenLog, openLog } from '../observability/log.ts'
import { openServices, type Services } from '../services/services.ts'
import { networkCode } from '../text/connection-problem.ts'
import { version } from '../version.ts'
import { bootstrap, type FirstStart } from './bootstrap.ts'
import { Serving, type ServingOptions } from './serving.ts'
import type { WorkerListens } from './supervisor.ts'

const drainWithinMs = 7_000
const closeWithinMs = 10_000
/** What a shell reports for a process that SIGINT ended: 128 + 2. */
const abortExitCode = 130
/** Not the second: a wrapper such as `bun start` may forward the SIGINT that the terminal has sent as well. */
const interruptsToAbort = 3

/** A runtime's own HTTP server, once it listens. */
export interface Listener {
  /** An origin such as `http://127.0.0.1:3000`. */
  origin: string
  port: number
  /** Accepts no more connections; resolves when requests in flight are answered. */
  drain(): Promise<unknown>
  /** Ends every connection. */
  close(): Promise<unknown>
}

export interface ListenOptions {
  /** 0 picks a free port. */
  port: number
  host: string
  /** Whether other processes listen on the same port. */
  sharesPort: boolean
  /** How long an idle connection stays open. */
  keepAliveSeconds: number
  fetch: (request: Request) => Response | Promise<Response>
}

/** What differs from runtime to runtime. */
interface Runtime {
  listen(options: ListenOptions): Promise<Listener>
  /** The peer address of a request's connection. */
  peerAddress: PeerAddress
  /** Keeps a request's connection open for a minute at least, although nothing is sent: for runtimes that would close it. */
  keepOpen?: (request: Request) => void
}

export interface StartOptions {
  /** Its number, when a supervisor has started it. */
  worker: number | null
  /** Whether the project of examples is made. */
  isDemo: boolean
}

/** Runs the service until a signal ends it. */
export async function start(runtime: Runtime, { worker, isDemo }: StartOptions): Promise<void> {
  try {
    process.umask(0o077)
    const config = loadConfig(process.env, process.stdout.isTTY === true)
    const openLogger = await openLog({ level: config.logLevel, format: config.logFormat })
    if (worker === null || worker === 0) for (const slip of config.slips) openLogger.log.warn(slip)
    await run(runtime, { config, worker, isDemo, openLogger }).catch(async (error) => {
      await openLogger.close()
      throw error
    })
  } catch (error) {
    fail(error)
  }
}

/**
 * Stops once at SIGTERM or SIGINT, and ends the process at the third SIGINT. The handlers stay installed: without them
 * the next signal would kill the process while it closes.
 * @param beforeAbort called before the process ends without closing
 */
export function onEndSignals(stop: (signal: string) => unknown, beforeAbort = () => {}): void {
  let isStopping = false
  let interrupts = 0
  const handle = (signal: string) => {
    if (signal === 'SIGINT' && ++interrupts >= interruptsToAbort) {
      beforeAbort()
      process.exit(abortExitCode)
    }
    if (isStopping) return
    isStopping = true
    stop(signal)
  }
  process.on('SIGTERM', handle)
  process.on('SIGINT', handle)
}

/** Prints why the service cannot start, and ends the process. */
export function fail(error: unknown): never {
  const message = error instanceof ConfigError ? error.message : `Callbook cannot start: ${messageOf(error)}`
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

async function run(
  { listen, peerAddress, keepOpen }: Runtime,
  { config, worker, isDemo, openLogger }: StartOptions & { config: Config; openLogger: OpenLog },
): Promise<void> {
  const { log, recordRequest, close: closeLog } = openLogger
  const die = (error: unknown) => {
    log.fatal({ error }, 'Unexpected error; the process ends')
    void closeLog().finally(() => process.exit(1))
  }
  process.on('uncaughtException', die)
  process.on('unhandledRejection', die)
  const open: ServingOptions['open'] = async (onBack, isFirst) => {
    const opening = openServices({
      config,
      log,
      role: 'service',
      onDamage: die,
      onBack,
      createsDatabase: isFirst,
      ...(worker !== null && worker > 0 ? { ownerWaitMs: 0 } : {}),
    })
    // The indexes are loaded while the server is made.
    const started = opening.then((services) => services.start())
    started.catch(() => undefined)
    const [services, { createServer }] = await Promise.all([opening, import('../server.ts')])
    const { fetch } = createServer(services, peerAddress, recordRequest, keepOpen)
    return { services, started, fetch }
  }
  const isAway = () => isEmptyFile(config.databaseFile ?? '')
  const serving = new Serving({ open, isAway, onFailure: die })
  const { services, started } = await serving.opening
  const { port, host, keepAliveSeconds } = config
  const fetch = (request: Request) => serving.fetch(request)
  const options = { port, host, keepAliveSeconds, sharesPort: worker !== null, fetch }
  const server = await listen(options).catch((error) => {
    throw new Error(listenProblem(options, error), { cause: error })
  })
  serving.address = config.publicUrl ?? server.origin
  services.listensAt(serving.address)
  // Last, when nothing can fail any more: the start that makes the key must also print it.
  const first = await bootstrap(services)

  let isStopping = false
  const stop = async (signal: string) => {
    if (isStopping) return
    isStopping = true
    void setTimeout(closeWithinMs).then(() => die(new Error('Closing took too long')))
    log.info({ signal }, 'closing')
    serving.isEnding = true
    const { services: last } = await serving.opening
    // Readers that wait for changes are answered, and their streams end.
    await last.changeWatch.close()
    await Promise.race([server.drain(), setTimeout(drainWithinMs)])
    await server.close()
    await last.close()
    log.info({ signal }, 'closed')
    await closeLog()
    process.exit(0)
  }
  onEndSignals(stop)
  if (worker !== null) {
    process.once('disconnect', () => void stop('the end of its supervisor'))
    process.send?.({ port: server.port } satisfies WorkerListens)
  }

  const isFirst = worker === null || worker === 0
  if (isFirst || first.firstKey || first.setupToken) {
    process.stdout.write(startBanner(services, first, server.origin))
  }
  try {
    await started
    log.info({ address: server.origin }, 'ready')
    if (isDemo) process.stdout.write(await demoLine(services, serving.address))
  } catch (error) {
    // A signal may have closed the parts while they were starting.
    if (!isStopping) throw error
  }
}

/** Makes the project of examples unless it is there. @returns where it is, or why it was not made */
async function demoLine({ demo }: Services, address: string): Promise<string> {
  try {
    const { project } = await demo.make()
    return `  Demo        ${address}/console/p/${project.id}\n\n`
  } catch (error) {
    return `  The demo was not made: ${messageOf(error)}\n\n`
  }
}

/** Why no connections can be accepted, in a sentence. */
function listenProblem({ port, host }: Pick<ListenOptions, 'port' | 'host'>, error: unknown): string {
  const code = networkCode(error)
  switch (code) {
    case 'EADDRINUSE':
      return `PORT is ${port}, where another program listens already on ${host}. Stop it, or choose another PORT.`
    case 'EADDRNOTAVAIL':
      return `HOST is ${host}, which is no address of this machine. 127.0.0.1 is this machine alone, 0.0.0.0 all of its networks.`
    case 'EACCES':
      return `PORT is ${port}, which this user may not listen on. Choose one above 1023.`
    case 'ENOENT':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST is ${host}, a name for which no address is found.`
    default:
      return `It cannot listen on HOST ${host} and PORT ${port}: ${messageOf(error)}`
  }
}

/**
 * What a start prints for people. The first start's text has secrets, so it never goes through the log.
 * @param address where the server listens, such as `http://127.0.0.1:3000`
 */
function startBanner(
  { config, embedder, chat, ownsFolder }: Pick<Services, 'config' | 'embedder' | 'chat' | 'ownsFolder'>,
  first: FirstStart,
  address: string,
): string {
  const publicUrl = config.publicUrl ?? address
  const lines = [
    `Callbook    ${address}`,
    `Version     ${version}`,
    `Docs        ${publicUrl}/docs`,
    `Data        ${config.dataDir}`,
    `Embeddings  texts are sent to ${embedder.destination}`,
  ]
  if (chat)
    lines.push(
      `Analysis    texts are sent to ${chat.name} at ${chat.destination}, for projects with a rubric`,
    )
  if (!ownsFolder) lines.push('Note        another process owns this folder; this one saves no index files')
  const { firstKey, setupToken } = first
  // Otherwise the set-up link is below.
  if (!setupToken) lines.splice(1, 0, `Console     ${publicUrl}/console`)
  const shownOnce = []
  if (firstKey) shownOnce.push(`Project     ${firstKey.projectName}`, `API key     ${firstKey.key}`)
  if (setupToken) shownOnce.push(`Console     ${publicUrl}/console/setup#${setupToken}`)
  if (shownOnce.length > 0) lines.push('', ...shownOnce, '', 'This is shown only once. Store it now.')
  return `\n${lines.map((line) => (line ? `  ${line}` : line)).join('\n')}\n\n`
}

/** The message of the cause for a failed query, whose own message holds people's texts, and for an AppError. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isAroundAnother = 'query' in error || error instanceof AppError
  return isAroundAnother && error.cause instanceof Error ? messageOf(error.cause) : error.message
}
