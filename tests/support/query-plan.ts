import { SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type { ReadDatabase } from '../../src/db/reader.ts'

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

/** The query plan of each recorded statement that contains these words: https://www.sqlite.org/eqp.html */
export async function plansOf(
  read: ReadDatabase,
  statements: readonly SQL[],
  words: RegExp,
): Promise<string[]> {
  const dialect = new SQLiteSyncDialect()
  const isMeant = (statement: SQL) => {
    const { sql: text } = dialect.sqlToQuery(statement)
    // The queries made here may be recorded as well.
    return words.test(text) && !text.startsWith('explain')
  }
  const plans: string[] = []
  for (const statement of statements.filter(isMeant)) {
    const rows = await read.all<{ detail: string }>(sql`explain query plan ${statement}`)
    plans.push(rows.map(({ detail }) => detail).join('\n'))
  }
  return plans
}
