import pino from 'pino'
import { loadConfig } from '../../src/config.ts'
import { describeError, logHooks } from '../../src/observability/log.ts'
import { createServer } from '../../src/server.ts'
import { openServices, type Services } from '../../src/services/services.ts'
import { atEnd, freshFolder } from './at-end.ts'
import { databaseOf } from './test-mode.ts'

export interface TestService {
  url: string
  services: Services
  /** Every line the service has logged, parsed. */
  logs: Record<string, unknown>[]
  dataDir: string
  /** A project of the test's own, with one key of each kind. */
  mintProject(): Promise<TestProject>
  /** Also done at the end of the file. */
  stop(): Promise<void>
}

export interface TestProject {
  projectId: number
  id: string
  name: string
  key: string
  keyId: string
  ingestKey: string
  /** Requests with the project's API key, or its ingest key under /ingest. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** The same, with a body sent as JSON. */
  send(method: string, path: string, body: unknown): Promise<Response>
  /** Another API key, or what else is asked for. */
  makeKey(input: Partial<Parameters<Services['keys']['create']>[1]>): ReturnType<Services['keys']['create']>
}

export interface StartOptions {
  /** Settings as in the environment. */
  env?: Record<string, string>
  /** Keeps the folder of an earlier service. */
  dataDir?: string
  now?: () => number
  /** Where alerts for PagerDuty go. */
  pagerDutyUrl?: string
}

/** The real service in a fresh folder, on a free port of loopback. */
export async function startService({
  env = {},
  dataDir,
  ...options
}: StartOptions = {}): Promise<TestService> {
  const folder = dataDir ?? freshFolder()
  const database = await databaseOf(folder)
  // On a busy machine any request may be slow.
  const config = loadConfig({ DATA_DIR: folder, SLOW_REQUEST_MS: '0', ...database.env, ...env }, false)
  const logs: Record<string, unknown>[] = []
  const log = pino(
    {
      level: 'trace',
      hooks: logHooks,
      serializers: { error: (error) => ({ ...Object(describeError(error)), cause: String(error?.cause) }) },
    },
    { write: (line) => logs.push(JSON.parse(line)) },
  )
  const services = await openServices({ config, log, role: 'service', ...options })
  await services.start()
  const app = createServer(services, (request) => server.requestIP(request)?.address ?? null)
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: app.fetch,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  })
  const url = server.url.origin
  let minted = 0
  return {
    url,
    services,
    logs,
    dataDir: folder,
    async mintProject() {
      const project = await services.projects.create(`test ${++minted} ${performance.now()}`)
      const makeKey: TestProject['makeKey'] = (input) => {
        const plain = { name: 'made', kind: 'live' as const, allowedIps: [], expiresAt: null }
        return services.keys.create(project.projectId, { ...plain, ...input })
      }
      const live = await makeKey({ name: 'live' })
      const ingest = await makeKey({ name: 'ingest', kind: 'ingest' })
      const call = (path: string, init: RequestInit = {}) => {
        const headers = new Headers(init.headers)
        const key = path.startsWith('/ingest') ? ingest.key : live.key
        if (!headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
        return fetch(url + path, { ...init, headers })
      }
      return {
        ...project,
        key: live.key,
        keyId: live.id,
        ingestKey: ingest.key,
        makeKey,
        fetch: call,
        send: (method, path, body) =>
          call(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }
    },
    stop: atEnd(async () => {
      await server.stop(true)
      await services.close()
      await database.release()
    }),
  }
}
