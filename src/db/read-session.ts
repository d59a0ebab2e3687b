import { Column, is, Param, Placeholder, SQL } from 'drizzle-orm'
import { BetterSQLiteSession, type PreparedQuery } from 'drizzle-orm/better-sqlite3/session'
import type { PreparedQueryConfig, SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type Database from 'libsql'

type Statement = ReturnType<Database.Database['prepare']>
type Values = Record<string, unknown>
type PrepareArguments = Parameters<BetterSQLiteSession<Values, never>['prepareQuery']>
type Fields = NonNullable<PrepareArguments[1]>

/**
 * Drizzle's session for `libsql`, whose prepared queries decide once how to bind values and read rows. Drizzle itself
 * decides at each call, which costs as much as reading a call by its id.
 */
export class ReadSession extends BetterSQLiteSession<Values, never> {
  readonly #connection: Database.Database

  constructor(connection: Database.Database, dialect: SQLiteSyncDialect) {
    super(connection, dialect, undefined)
    this.#connection = connection
  }

  override prepareQuery<Config extends Omit<PreparedQueryConfig, 'run'>>(
    ...args: PrepareArguments
  ): PreparedQuery<Config> {
    const [query, fields, , , customResultMapper] = args
    const base = super.prepareQuery<Config>(...args)
    // Drizzle itself handles nested results and relations.
    if (!fields || customResultMapper || fields.some(({ path }) => path.length !== 1)) return base
    const prepare = (): Statement => this.#connection.prepare(query.sql).raw()
    const bind = compileBinding(query.params)
    const read = compileReading(fields)
    const forAll = prepare()
    const all = (values?: Values) => forAll.all(bind(values)).map(read)
    // After an `all`, or a `get` that failed, libsql does not bind new values: the next `get` would answer for the old
    // ones, which may be another tenant's. So `get` has its own statement, and a new one after a failure.
    let forGet: Statement | null = null
    const get = (values?: Values) => {
      const statement = forGet ?? prepare()
      forGet = null
      const row = statement.get(bind(values))
      forGet = statement
      return row ? read(row) : undefined
    }
    return Object.assign(base, { all, get })
  }
}

/** Turns the values of placeholders into the list that the statement takes. */
function compileBinding(params: readonly unknown[]): (values: Values | undefined) => unknown[] {
  const bindings = params.map((param): ((values: Values) => unknown) => {
    if (is(param, Placeholder)) return (values) => values[param.name]
    if (is(param, Param) && is(param.value, Placeholder)) {
      const { name } = param.value
      return (values) => param.encoder.mapToDriverValue(values[name])
    }
    return () => param
  })
  return (values = {}) => bindings.map((binding) => binding(values))
}

/** Turns a row as an array into an object with the selected fields. */
function compileReading(fields: Fields): (row: unknown) => Values {
  const readings = fields.map(({ path, field }) => ({ name: path[0] ?? '', decoder: decoderOf(field) }))
  return (row) => {
    const result: Values = {}
    for (const [position, { name, decoder }] of readings.entries()) {
      const value = (row as unknown[])[position]
      result[name] = value === null ? null : decoder.mapFromDriverValue(value)
    }
    return result
  }
}

interface Decoder {
  mapFromDriverValue(value: unknown): unknown
}

/** Drizzle keeps the decoder of an expression where its types do not show it. */
function decoderOf(field: Fields[number]['field']): Decoder {
  if (is(field, Column)) return field
  const expression = is(field, SQL) ? field : (field as { sql: SQL }).sql
  return (expression as unknown as { decoder: Decoder }).decoder
}
