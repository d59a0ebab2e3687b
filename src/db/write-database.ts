import type { Client, ResultSet } from '@libsql/client'
import { is, SQL } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import { LibSQLSession } from 'drizzle-orm/libsql/session'
import { BaseSQLiteDatabase, SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core'
import { brokenBy, checkOf, type Requirement } from './requirements.ts'

/** What Drizzle calls, but for transactions of several steps, which no part asks for. */
export type WriteClient = Pick<Client, 'execute' | 'batch' | 'migrate'>

type Query = BatchItem<'sqlite'>
/** SQL is for what returns no rows. */
export type Statement = Query | SQL
/** The statements of a batch, each under a name of its own; a list of them has one name. */
type Statements = Readonly<Record<string, Statement | readonly Statement[]>>

type NoSchema = Record<string, never>
type ResultOf<Each> = Each extends Query ? Each['_']['result'] : ResultSet
type Results<Named extends Statements> = {
  [Name in keyof Named]: Named[Name] extends readonly (infer Each)[]
    ? ResultOf<Each>[]
    : ResultOf<Named[Name]>
}

/**
 * Drizzle over a client. Drizzle's own class takes a batch as a list, and its `drizzle()` would load all of
 * `@libsql/client`, which only servers' databases need.
 */
export class WriteDatabase extends BaseSQLiteDatabase<'async', ResultSet> {
  /** The base class has it, but its types do not say so. */
  declare readonly session: LibSQLSession<NoSchema, NoSchema>

  /** @param client of a reader it is asked for `execute` alone */
  constructor(client: Pick<WriteClient, 'execute'> & Partial<WriteClient>) {
    const dialect = new SQLiteAsyncDialect()
    const session = new LibSQLSession<NoSchema, NoSchema>(client as Client, dialect, undefined, {}, undefined)
    super('async', dialect, session, undefined)
  }

  /**
   * Runs the statements in one transaction, in the order in which they are written.
   * @returns the result of each under its name
   */
  async batch<Named extends Statements>(batch: Named): Promise<Results<Named>> {
    const statements: Statement[] = Object.values(batch).flat()
    const queries = statements.map((statement) => (is(statement, SQL) ? this.run(statement) : statement))
    const results = await this.session.batch(queries)
    const take = (of: Statements[string]) =>
      Array.isArray(of) ? results.splice(0, of.length) : results.shift()
    return Object.fromEntries(Object.entries(batch).map(([name, of]) => [name, take(of)])) as Results<Named>
  }

  /**
   * The same, if the requirements hold within the transaction: otherwise nothing is written.
   * @throws the error of the first one that does not hold
   */
  async batchIf<Named extends Statements>(
    requirements: readonly Requirement[],
    batch: Named,
  ): Promise<Results<Named>> {
    if (requirements.length === 0) return await this.batch(batch)
    try {
      return await this.batch({ check: checkOf(requirements), ...batch })
    } catch (error) {
      throw brokenBy(error, requirements)?.otherwise() ?? error
    }
  }
}
