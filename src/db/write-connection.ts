import type { Client, InArgs, InValue } from '@libsql/client'
import { LibsqlError } from '@libsql/core/api'
import Database from 'libsql'
import { LRUCache } from 'lru-cache'
import { fileUrl } from './location.ts'
import type { PlainResult } from './writer-messages.ts'

const statementsMax = 500
const keptCharsMax = 65_536

type Statement = ReturnType<Database.Database['prepare']>
export type WriteStatement = Parameters<Client['batch']>[0][number]

/**
 * A connection that writes to a database file, which must be there. Unlike `@libsql/client` it prepares a statement once, not at each
 * call, and lets several batches share a transaction; values and errors are the client's.
 */
export class WriteConnection {
  readonly #database: Database.Database
  readonly #statements = new LRUCache<string, Statement>({ max: statementsMax })

  /** @param timeoutMs how long a lock of another connection is waited for @throws LibsqlError */
  constructor(file: string, { timeoutMs, pragmas }: { timeoutMs: number; pragmas: readonly string[] }) {
    try {
      this.#database = new Database(`${fileUrl(file)}?mode=rw`, { timeout: timeoutMs })
    } catch (error) {
      // libsql gives this failure no code of its own.
      throw new LibsqlError(String(error), 'SQLITE_CANTOPEN')
    }
    try {
      for (const pragma of pragmas) this.execute(`PRAGMA ${pragma}`)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** False when no transaction was begun, or an error has ended it. */
  get inTransaction(): boolean {
    return this.#database.inTransaction
  }

  /** Runs the statements in one transaction of their own. @throws LibsqlError and nothing is written */
  batch(statements: readonly WriteStatement[]): PlainResult[] {
    this.execute('begin immediate')
    try {
      const results = statements.map((statement) => this.execute(statement))
      this.execute('commit')
      return results
    } finally {
      this.rollback()
    }
  }

  /** Ends the transaction, if there is one, without writing it. */
  rollback(): void {
    if (this.inTransaction) this.execute('rollback')
  }

  /** @throws LibsqlError */
  execute(statement: WriteStatement): PlainResult {
    const { sql, args } = asObject(statement)
    try {
      const compiled = this.#statements.get(sql) ?? this.#database.prepare(sql)
      // Put back only when it ran: libsql does not bind new values to a statement that has failed.
      this.#statements.delete(sql)
      const result = run(compiled, args)
      if (!holdsMuch(args)) this.#statements.set(sql, compiled)
      return result
    } catch (error) {
      throw toLibsqlError(error)
    }
  }

  close(): void {
    try {
      // A statement that has not been garbage-collected keeps the connection, and so its lock, after `close`.
      this.rollback()
    } catch {
      // The transaction could not be ended, so nobody can use it.
    }
    this.#statements.clear()
    this.#database.close()
  }
}

function run(statement: Statement, args: InArgs | undefined): PlainResult {
  if (!statement.reader) {
    const { changes, lastInsertRowid } = statement.run(bound(args))
    return {
      columns: [],
      columnTypes: [],
      rows: [],
      rowsAffected: changes,
      lastInsertRowid: BigInt(lastInsertRowid),
    }
  }
  const rows = statement.raw().all(bound(args)) as unknown[][]
  const columns = statement.columns().map(({ name }) => name)
  return { columns, columnTypes: [], rows, rowsAffected: 0, lastInsertRowid: undefined }
}

/** A statement keeps the values that it ran with. */
function holdsMuch(args: InArgs = []): boolean {
  let chars = 0
  for (const value of Object.values(args)) if (typeof value === 'string') chars += value.length
  return chars > keptCharsMax
}

function asObject(statement: WriteStatement): { sql: string; args?: InArgs | undefined } {
  if (typeof statement === 'string') return { sql: statement }
  return Array.isArray(statement) ? { sql: statement[0], args: statement[1] } : statement
}

function bound(args: InArgs = []): object {
  if (Array.isArray(args)) return args.map(toValue)
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name.replace(/^[@$:]/, ''), toValue(value)]),
  )
}

function toValue(value: InValue): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  return value instanceof ArrayBuffer ? Buffer.from(value) : value
}

/** https://www.sqlite.org/rescode.html: the last byte of an extended code is the code that it belongs to. */
const baseCodes = new Map([
  [5, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [8, 'SQLITE_READONLY'],
  [10, 'SQLITE_IOERR'],
  [11, 'SQLITE_CORRUPT'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [19, 'SQLITE_CONSTRAINT'],
])

function toLibsqlError(error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error
  const { message, code, rawCode } = error
  return new LibsqlError(message, baseCodes.get((rawCode ?? 0) & 0xff) ?? code, code, rawCode, error)
}
