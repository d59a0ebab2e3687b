import pino from 'pino'
import { LineWriter } from './line-writer.ts'

export type Log = pino.Logger

const stderr = 2

/** The log line of a request. */
export interface RequestRecord {
  requestId: string
  method: string
  /** The route's pattern, never the path: a path may hold anything a client wrote. */
  route: string
  status: number
  durationMs: number
  keyId: string | undefined
}

export interface OpenLog {
  readonly log: Log
  /** Logs a request as `log.info(record, 'request')` would, but faster. */
  recordRequest(record: RequestRecord): void
  /** Writes out what is buffered; for the end of the process. */
  close(): Promise<void>
}

interface LogOptions {
  level: string
  format: 'json' | 'pretty'
}

/**
 * Structured logs on stderr, which leaves stdout to people and scripts. Lines are buffered for a moment: a write for
 * each line would cost more than the request.
 */
export async function openLog({ level, format }: LogOptions): Promise<OpenLog> {
  const options: pino.LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: describeError },
  }
  if (format === 'pretty') {
    const { default: pretty } = await import('pino-pretty')
    const log = pino(options, pretty({ destination: stderr, sync: true }))
    return { log, recordRequest: (record) => log.info(record, 'request'), close: async () => undefined }
  }
  const lines = new LineWriter(stderr)
  const log = pino(options, lines)
  const recordRequest = (record: RequestRecord) => {
    if (log.isLevelEnabled('info')) lines.write(requestLine(record))
  }
  return { log, recordRequest, close: () => lines.close() }
}

/** No value needs escaping, since each is made or checked here. */
function requestLine(record: RequestRecord): string {
  const { requestId, method, route, status, durationMs, keyId } = record
  const key = keyId === undefined ? '' : `"keyId":"${keyId}",`
  const duration = Math.round(durationMs * 1000) / 1000
  const time = new Date().toISOString()
  return `{"level":"info","time":"${time}","requestId":"${requestId}","method":"${method}","route":"${route}","status":${status},"durationMs":${duration},${key}"msg":"request"}\n`
}

/**
 * An error without people's texts. Drizzle puts a failed query's parameters into its message, so the log gets the query
 * and the causes instead.
 */
function describeError(error: unknown): unknown {
  // Workers pass on only the message.
  if (!(error instanceof Error)) return { message: typeof error === 'string' ? error : typeof error }
  const query = 'query' in error && typeof error.query === 'string' ? error.query : undefined
  return {
    name: error.name,
    message: query === undefined ? error.message : 'Failed query',
    query,
    code: 'code' in error ? error.code : undefined,
    stack: query === undefined ? error.stack : undefined,
    cause: error.cause === undefined ? undefined : describeError(error.cause),
  }
}
