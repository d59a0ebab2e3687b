import pino, { type Logger } from 'pino'

/** Where the database reports what an operator should know. */
export type DatabaseLog = Pick<Logger, 'info' | 'warn' | 'error'>

export const silentLog: DatabaseLog = pino({ level: 'silent' })
