import pino from 'pino'
import pretty from 'pino-pretty'
import { LineWriter } from './line-writer.ts'

export type Log = pino.Logger

const stderr = 2

export interface OpenLog {
  readonly log: Log
  /** Writes the line of a request: `log.info(record, 'request')`, without pino's work on it where it shows. */
  recordRequest(record: object): void
  /** Writes out what is buffered. */
  close(): void
}

/**
 * Structured logs on stderr, so that stdout is free for what people and scripts read. Lines are gathered for a
 * moment: one write a line would cost more than the request it tells of.
 */
export function openLog({ level, format }: { level: string; format: 'json' | 'pretty' }): OpenLog {
  const options: pino.LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: describeError },
  }
  if (format === 'pretty') {
    const log = pino(options, pretty({ destination: stderr, sync: true }))
    return { log, recordRequest: (record) => log.info(record, 'request'), close: () => undefined }
  }
  const lines = new LineWriter(stderr)
  const log = pino(options, lines)
  const recordRequest = (record: object) => {
    if (!log.isLevelEnabled('info')) return
    const fields = { level: 'info', time: new Date().toISOString(), ...record, msg: 'request' }
    lines.write(`${JSON.stringify(fields)}\n`)
  }
  return { log, recordRequest, close: () => lines.close() }
}

/**
 * An error without the values it was about: Drizzle writes a failed query's parameters, which are people's
 * texts, into its message, so only the query and the causes are told.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: typeof error }
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
