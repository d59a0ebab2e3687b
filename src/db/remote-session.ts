import { type Client, type InStatement, LibsqlError, type ResultSet } from '@libsql/client'
import { generationOfFile, requireGeneration } from './generation.ts'
import { openRemoteClient } from './remote-client.ts'
import { unservedCode } from './remote-failure.ts'
import { retry } from './retry.ts'
import {
  meansLock,
  type RemoteTarget,
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
export function openRemoteSession(target: RemoteTarget): WriterSession {
  const client = openRemoteClient(target, { deadlineMs, concurrency: writesAtOnce })
  const patient = openRemoteClient(target, { deadlineMs: migrationDeadlineMs, concurrency: 1 })
  const guardOf = createGuard(target.replicaFile)
  return {
    async run(call) {
      const isMigration = call.method === 'migrate'
      try {
        const guard = guardOf()
        return await (isMigration ? runOn(patient, call, guard) : whenFree(() => runOn(client, call, guard)))
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

/**
 * What each transaction of a replica begins with. Until its next sync a replica does not know that its primary was
 * replaced, and in the other database its project and row numbers belong to other tenants.
 */
function createGuard(replicaFile: string | undefined): () => InStatement[] {
  let generation: string | null = null
  return () => {
    if (replicaFile !== undefined) generation ??= generationOfFile(replicaFile)
    return generation === null ? [] : [requireGeneration(generation)]
  }
}

/** Runs a call on a client, in one transaction with its guard. */
async function runOn(client: Client, call: WriterCall, guard: InStatement[]): Promise<WriterValue> {
  const resultsOf = (all: ResultSet[]) => all.slice(guard.length).map(toPlainResult)
  switch (call.method) {
    case 'execute': {
      if (guard.length === 0) return toPlainResult(await client.execute(call.statement))
      const [result = null] = resultsOf(await client.batch([...guard, call.statement], 'write'))
      return result
    }
    case 'batch':
      return resultsOf(await client.batch([...guard, ...call.statements], 'write'))
    case 'migrate':
      return resultsOf(await client.migrate([...guard, ...call.statements]))
    default:
      throw new Error(`${call.method} is for a database file`)
  }
}
