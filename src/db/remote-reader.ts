import type { Client, InStatement, ResultSet, Row } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql'
import type { RemoteLocation } from './location.ts'
import type { ReadDatabase, Reader } from './reader.ts'
import {
  openRemoteClient,
  primaryAwayCode,
  readUnanswered,
  tokenRefused,
  tokenRefusedCode,
  unservedCode,
} from './remote-client.ts'

const deadlineMs = 2_900
const readsAtOnce = 32

/** Reads over the network: each query is a request. */
export function openRemoteReader(location: RemoteLocation): Reader {
  const client = openRemoteClient(location, { deadlineMs, concurrency: readsAtOnce })
  let asked = 0
  return {
    db: asReadDatabase(drizzle(new ReadingClient(client) as unknown as Client)),
    // A server does not say whether its database has changed, so assume that it has.
    dataVersion: () => ++asked,
    close: () => client.close(),
  }
}

/** Runs Drizzle's queries, with values in the types of a local database. */
class ReadingClient {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  async execute(statement: InStatement): Promise<ResultSet> {
    try {
      const result = await this.#client.execute(statement)
      return { ...result, rows: result.rows.map(withBytes), toJSON: () => result.toJSON() }
    } catch (error) {
      throw toReadFailure(error)
    }
  }
}

function toReadFailure(error: unknown): unknown {
  const code = unservedCode(error)
  if (code === tokenRefusedCode) return tokenRefused(error)
  return code === primaryAwayCode ? readUnanswered(error) : error
}

/** A local database returns bytes as a view, this client as a bare buffer. */
function withBytes(row: Row): Row {
  if (!Array.from(row).some((value) => value instanceof ArrayBuffer)) return row
  const converted = {}
  Object.defineProperty(converted, 'length', { value: row.length })
  for (const [name, { value, enumerable = false }] of Object.entries(Object.getOwnPropertyDescriptors(row))) {
    if (name === 'length') continue
    Object.defineProperty(converted, name, { value: toBytes(value), enumerable })
  }
  return converted as Row
}

function toBytes(value: unknown): unknown {
  return value instanceof ArrayBuffer ? Buffer.from(value) : value
}

function asReadDatabase(db: unknown): ReadDatabase {
  return db as ReadDatabase
}
