import type { Client, InStatement } from '@libsql/client'
import type { RemoteLocation } from './location.ts'
import type { ReadDatabase, Reader } from './reader.ts'
import { openRemoteClient } from './remote-client.ts'
import { primaryUnavailable, unservedDetail } from './remote-failure.ts'
import { WriteDatabase } from './write-database.ts'

const deadlineMs = 2_900
const readsAtOnce = 32

const unanswered = {
  away: 'The database does not answer.',
  unreached: 'The database cannot be reached.',
}

/** Reads over the network: each query is a request. */
export function openRemoteReader(location: RemoteLocation): Reader {
  const client = openRemoteClient(location, { deadlineMs, concurrency: readsAtOnce })
  let version = 0
  return {
    db: toReadDatabase(client),
    // A server does not say whether its database has changed, so assume that it has.
    dataVersion: () => ++version,
    close: () => client.close(),
  }
}

/** Drizzle's queries only call `execute`, and are awaited like those of a local database. */
function toReadDatabase(client: Client): ReadDatabase {
  const execute = async (statement: InStatement) => {
    try {
      return await client.execute(statement)
    } catch (error) {
      const detail = unservedDetail(error, unanswered)
      throw detail ? primaryUnavailable(detail, { cause: error }) : error
    }
  }
  return new WriteDatabase({ execute })
}
