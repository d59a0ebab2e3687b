import { LRUCache } from 'lru-cache'
import { dataOfThread, serve } from '../threads/serve.ts'
import { openReadOnly } from './read-only.ts'

const busyTimeoutMs = 5_000
const cacheKib = 32_768
const statementsMax = 100

const { file } = dataOfThread<{ file: string }>()
// Not mapped into memory: the pages of a scanned index would count as memory of the process.
const connection = openReadOnly(file, busyTimeoutMs)
connection.exec(`PRAGMA cache_size = -${cacheKib}`)
const statements = new LRUCache<string, ReturnType<typeof prepare>>({ max: statementsMax })

/** Runs the queries of side-reader.ts, one at a time. */
const api = {
  rows(sql: string, params: unknown[]): unknown[][] {
    const statement = statements.get(sql) ?? prepare(sql)
    try {
      // `raw` gives each row as an array.
      const rows = statement.all(params) as unknown[][]
      statements.set(sql, statement)
      return rows
    } catch (error) {
      statements.delete(sql)
      throw error
    }
  },
}

export type SideReaderApi = typeof api

serve(api, { close: () => connection.close() })

function prepare(sql: string) {
  return connection.prepare(sql).raw()
}
