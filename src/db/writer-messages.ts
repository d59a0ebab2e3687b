import type { Client, InStatement, ResultSet, Row } from '@libsql/client'
import type { RemoteLocation } from './location.ts'

/** Where the writer's worker writes. */
export type WriterTarget = { kind: 'file'; url: string } | RemoteTarget

export interface RemoteTarget extends RemoteLocation {
  /** A replica of the server's database: nothing is written to another database. */
  readonly replicaFile?: string
}

/** A call to the writer's worker. Most are methods of `@libsql/client`. */
export type WriterCall =
  | { method: 'execute'; statement: InStatement }
  | { method: 'batch'; statements: Parameters<Client['batch']>[0] }
  | { method: 'migrate'; statements: InStatement[] }
  | { method: 'clearStalePages'; pages: number[] }
  | { method: 'emptyLog'; holdUpMs: number }
  | { method: 'gaps' }
  | { method: 'endSweep'; gaps: number }
  | { method: 'keepBallast'; bytes: number }
  | { method: 'tryDisk' }

export type WriterValue = PlainResult | PlainResult[] | boolean | number | null

/** What the worker tells of its own accord: whether the database file has been swept. */
export interface WriterEvent {
  isSwept: boolean
}

/** The connection that writes, in the worker. */
export type WriterSession = {
  /** @param frees whether the call frees space, and so may use that of the ballast file */
  run(call: WriterCall, frees: boolean): Promise<WriterValue>
  close(): Promise<void>
}

/** Whether the code says that another connection holds a lock. */
export function meansLock(code: string): boolean {
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')
}

/** Whether the code says that the disk refused the write: it is read-only, broken or gone. */
export function meansRefusal(code: string): boolean {
  return /^SQLITE_(IOERR|READONLY|CANTOPEN)/.test(code)
}

/** What can be wrong with the disk or the file; writes are refused with the reason. */
export type DiskTrouble = 'full' | 'refused' | 'damaged'

/** Null when the code of a failed write says nothing about the disk or the file. */
export function toDiskTrouble(code: string): DiskTrouble | null {
  if (code === 'SQLITE_FULL') return 'full'
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return 'damaged'
  return meansRefusal(code) ? 'refused' : null
}

/** A ResultSet that survives a message, which would lose the hidden index properties of its rows. */
export interface PlainResult {
  columns: string[]
  columnTypes: string[]
  rows: unknown[][]
  rowsAffected: number
  lastInsertRowid: bigint | undefined
}

export function toPlainResult(result: ResultSet): PlainResult {
  return {
    columns: result.columns,
    columnTypes: result.columnTypes,
    rows: result.rows.map((row) => Array.from(row)),
    rowsAffected: result.rowsAffected,
    lastInsertRowid: result.lastInsertRowid,
  }
}

export function fromPlainResult(plain: PlainResult): ResultSet {
  const rows = plain.rows.map((values) => toRow(values, plain.columns))
  return { ...plain, rows, toJSON: () => ({ ...plain }) }
}

function toRow(values: unknown[], columns: string[]): Row {
  const row: Record<string, unknown> = {}
  Object.defineProperty(row, 'length', { value: values.length })
  for (const [position, value] of values.entries()) {
    Object.defineProperty(row, position, { value })
    row[columns[position] ?? position] ??= value
  }
  // The shape @libsql/client gives its rows: values by position (hidden) and by column name.
  return row as unknown as Row
}
