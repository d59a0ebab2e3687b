import { LRUCache } from 'lru-cache'
import { openReadOnly } from '../../db/read-only.ts'
import { dataOfThread, serve } from '../../threads/serve.ts'
import { Turns } from '../../threads/turns.ts'
import { answerAll, type PassOptions } from './pass.ts'
import { figuresOfWindows } from './windows.ts'

const busyTimeoutMs = 5_000
const cacheKib = 32_768
const statementsMax = 100

const { file } = dataOfThread<{ file: string | null }>()
// Not mapped into memory: the pages of a scanned index would count as memory of the process.
const connection = file === null ? null : openReadOnly(file, busyTimeoutMs)
connection?.exec(`PRAGMA cache_size = -${cacheKib}`)
const statements = new LRUCache<string, ReturnType<typeof prepare>>({ max: statementsMax })
const turns = new Turns()

/** Works for passes.ts. Passes take turns, slice by slice. */
const api = {
  figuresOfWindows,
  answerAll: (options: PassOptions) => answerAll(rows, options, () => turns.next()),
}

export type PassApi = typeof api

serve(api, { close: () => connection?.close() })

function rows(sql: string, params: readonly unknown[]): unknown[][] {
  const statement = statements.get(sql) ?? prepare(sql)
  statements.delete(sql)
  const found = statement.all([...params]) as unknown[][]
  // One that failed is not used again.
  statements.set(sql, statement)
  return found
}

function prepare(sql: string) {
  if (!connection) throw new Error('The thread has no database')
  return connection.prepare(sql).raw()
}
