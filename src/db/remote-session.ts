import { LibsqlError } from '@libsql/client'
import type { RemoteLocation } from './location.ts'
import { openRemoteClient, unservedCode } from './remote-client.ts'
import { retry } from './retry.ts'
import { meansLock, runOn, type WriterSession } from './writer-messages.ts'

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
