import type { SQL } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'

/** A statement, or a part of one, that another thread can run. */
export interface Statement {
  sql: string
  params: readonly unknown[]
}

const dialect = new SQLiteSyncDialect()

export function toStatement(part: SQL): Statement {
  const { sql, params } = dialect.sqlToQuery(part)
  return { sql, params }
}
