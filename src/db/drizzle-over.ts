import type { Client } from '@libsql/client'
import { LibSQLDatabase } from 'drizzle-orm/libsql/driver-core'
import { LibSQLSession } from 'drizzle-orm/libsql/session'
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core'

/** Drizzle over a client. Its own function would load all of `@libsql/client`, which only servers' databases need. */
export function drizzleOver(client: Client): LibSQLDatabase {
  const dialect = new SQLiteAsyncDialect()
  return new LibSQLDatabase(
    'async',
    dialect,
    new LibSQLSession(client, dialect, undefined, {}, undefined),
    undefined,
  )
}
