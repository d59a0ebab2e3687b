import type { Writable } from 'node:stream'
import pino from 'pino'
import { AppError, isLogged } from '../errors.ts'
import { LineWriter } from './line-writer.ts'

export type Log = pino.Logger

const stderr = 2
/** So much of a failed query tells which one it is. */
const queryCharsMax = 80

/** The log line of a request. */
export interface RequestRecord {
  requestId: string
  method: string
  /** The route's pattern, never the path: a path may hold anything a client wrote. */
  route: string
  status: number
  durationMs: number
  /** A slow request is one warning. */
  isSlow: boolean
  /** The length that the request gives its body. */
  bytes: number
  keyId: string | undefined
  /** The public id of the project. */
  project: string | undefined
  /** The header of W3C Trace Context. */
  traceparent: string | undefined
}

export interface OpenLog {
  readonly log: Log
  /** Logs a request as `log.info(record, 'request')` would, but faster. */
  recordRequest(record: RequestRecord): void
  /** Writes out what is buffered; for the end of the process. */
  close(): Promise<void>
}

/** Leaves out what was logged already: a full disk is one line, not one of each job that meets it. */
export const logHooks: pino.LoggerOptions['hooks'] = {
  logMethod(args, method) {
    const fields: unknown = args[0]
    const error = typeof fields === 'object' && fields !== null && 'error' in fields ? fields.error : null
    if (!isLogged(error)) method.apply(this, args)
  },
}

interface LogOptions {
  level: string
  format: 'json' | 'pretty'
  /** Where it goes instead of the process's stderr, unbuffered. */
  to?: Pick<Writable, 'write'>
}

/**
 * Structured logs on stderr, which leaves stdout to people and scripts. Lines are buffered for a moment: a write for
 * each line would cost more than the request.
 */
export async function openLog({ level, format, to }: LogOptions): Promise<OpenLog> {
  const options: pino.LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: describeError },
    hooks: logHooks,
  }
  if (to) {
    const log = pino(options, { write: (line) => to.write(line) })
    return { log, recordRequest: requestLines(log), close: async () => undefined }
  }
  if (format === 'pretty') {
    const { default: pretty } = await import('pino-pretty')
    const log = pino(options, pretty({ destination: stderr, sync: true, singleLine: true }))
    return { log, recordRequest: requestSentences(log), close: async () => undefined }
  }
  const lines = new LineWriter(stderr)
  const log = pino(options, lines)
  const recordRequest = (record: RequestRecord) => {
    if (log.isLevelEnabled(record.isSlow ? 'warn' : 'info')) lines.write(requestLine(record))
  }
  return { log, recordRequest, close: () => lines.close() }
}

/** Logs each request in one line. */
export function requestLines(log: Pick<Log, 'info' | 'warn'>): (record: RequestRecord) => void {
  return ({ isSlow, ...record }) => (isSlow ? log.warn(record, 'slow request') : log.info(record, 'request'))
}

/** Logs each request in one line for people, which begins with what they look for. */
function requestSentences(log: Pick<Log, 'info' | 'warn'>): (record: RequestRecord) => void {
  return ({ isSlow, method, route, status, durationMs, ...others }) => {
    const text = `${method} ${route} ${status} in ${durationMs.toFixed(1)} ms`
    if (isSlow) log.warn(others, `slow request: ${text}`)
    else log.info(others, text)
  }
}

/** The same as `requestLines`, with no value that needs escaping, since each is made or checked here. */
function requestLine(record: RequestRecord): string {
  const { requestId, method, route, status, durationMs, isSlow, bytes } = record
  const ids = (['keyId', 'project', 'traceparent'] as const)
    .map((name) => (record[name] === undefined ? '' : `"${name}":"${record[name]}",`))
    .join('')
  const duration = Math.round(durationMs * 1000) / 1000
  const time = new Date().toISOString()
  const [level, message] = isSlow ? ['warn', 'slow request'] : ['info', 'request']
  return `{"level":"${level}","time":"${time}","requestId":"${requestId}","method":"${method}","route":"${route}","status":${status},"durationMs":${duration},"bytes":${bytes},${ids}"msg":"${message}"}\n`
}

/**
 * An error without people's texts, and without whole statements. Drizzle puts a failed query's parameters into its
 * message, so the log gets the causes instead, and how the query begins.
 */
export function describeError(error: unknown): unknown {
  // Workers pass on only the message.
  if (!(error instanceof Error)) return { message: String(error) }
  const query = 'query' in error && typeof error.query === 'string' ? error.query : undefined
  // Such a cause is a sentence that says all.
  if (query !== undefined && error.cause instanceof AppError) return describeError(error.cause)
  return {
    name: error.name,
    message: query === undefined ? error.message : 'Failed query',
    query: query?.trim().replace(/\s+/g, ' ').slice(0, queryCharsMax),
    code: 'code' in error ? error.code : undefined,
    stack: query === undefined ? error.stack : undefined,
    cause: error.cause === undefined ? undefined : describeError(error.cause),
  }
}
