import { type Client, LibsqlError } from '@libsql/client'
import type { RemoteLocation } from './location.ts'
import { openRemoteClient, unservedCode } from './remote-client.ts'
import { retry } from './retry.ts'
import {
  meansLock,
  toPlainResult,
  type WriterCall,
  type WriterSession,
  type WriterValue,
} from './writer-messages.ts'

const deadlineMs = 2_500
/** Concurrent requests. The server runs one write at a time, and more would delay each other there. */
const writesAtOnce = 4
/** How long a write that met another's is retried. */
const retryWithinMs = 2_000
const retryDelayMs = 20
/** Migrations may rewrite tables. */
const migrationDeadlineMs = 60_000

/** Writes to a libSQL server: a batch is one request, and one transaction there. */
export function openRemoteSession(location: RemoteLocation): WriterSession {
  const client = openRemoteClient(location, { deadlineMs, concurrency: writesAtOnce })
  const patient = openRemoteClient(location, { deadlineMs: migrationDeadlineMs, concurrency: 1 })
  return {
    async run(call) {
      const isMigration = call.method === 'migrate' || call.method === 'executeMultiple'
      try {
        return await (isMigration ? runOn(patient, call) : whenFree(() => runOn(client, call)))
      } catch (error) {
        const code = unservedCode(error)
        throw code === null ? error : new LibsqlError(String(error), code)
      }
    },
    async close() {
      client.close()
      patient.close()
    },
  }
}

/** Retries while another write is under way: the server then refuses this one at once and does none of it. */
function whenFree<Result>(write: () => Promise<Result>): Promise<Result> {
  const isBusy = (error: unknown) => error instanceof LibsqlError && meansLock(error.code)
  return retry(write, { withinMs: retryWithinMs, delayMs: retryDelayMs, isWorthIt: isBusy })
}

/** Runs a call on a client. */
async function runOn(client: Client, call: WriterCall): Promise<WriterValue> {
  switch (call.method) {
    case 'execute':
      return toPlainResult(await client.execute(call.statement))
    case 'batch':
      return (await client.batch(call.statements, 'write')).map(toPlainResult)
    case 'migrate':
      return (await client.migrate(call.statements)).map(toPlainResult)
    case 'executeMultiple':
      await client.executeMultiple(call.sql)
      return null
    default:
      throw new Error(`${call.method} is for a database file`)
  }
}
