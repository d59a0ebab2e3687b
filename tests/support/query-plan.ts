import { SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { openReader, type ReadDatabase } from '../../src/db/reader.ts'

/** Records the statements run on a database with `all` and `run`. */
export function record(database: object): SQL[] {
  const statements: SQL[] = []
  for (const name of ['all', 'run']) {
    const original: unknown = Reflect.get(database, name)
    if (typeof original !== 'function') throw new Error(`${name} is no method`)
    Reflect.set(database, name, (statement: unknown) => {
      if (statement instanceof SQL) statements.push(statement)
      return Reflect.apply(original, database, [statement])
    })
  }
  return statements
}

/** The query plan of each recorded statement that contains these words. */
export async function plansOf(file: string, statements: readonly SQL[], words: RegExp): Promise<string[]> {
  const dialect = new SQLiteSyncDialect()
  const meant = statements.filter((statement) => words.test(dialect.sqlToQuery(statement).sql))
  return await Promise.all(meant.map((statement) => planOf(file, statement)))
}

/**
 * A line for each step of a query's plan: https://www.sqlite.org/eqp.html
 *
 * It has a connection of its own, because SQLite counts a finished `explain` as running: until it is garbage-collected,
 * later queries of the same connection read from the snapshot of the first.
 */
export async function planOf(file: string, statement: SQL): Promise<string> {
  const reader = openReader(file)
  try {
    const rows = await reader.db.all<{ detail: string }>(sql`explain query plan ${statement}`)
    return rows.map(({ detail }) => detail).join('\n')
  } finally {
    reader.close()
  }
}

/** The database, which records what is selected from. */
export function recording(db: ReadDatabase, statements: SQL[]): ReadDatabase {
  const select = (fields: never) => {
    const builder = db.select(fields)
    return {
      from(source: SQL) {
        statements.push(source)
        return builder.from(source)
      },
    }
  }
  return Object.assign(Object.create(db), { select })
}
