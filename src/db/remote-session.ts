import { LibsqlError } from '@libsql/client'
import { openRemoteClient, unservedCode } from './remote-client.ts'
import {
  meansLock,
  toPlainResult,
  type WriterCall,
  type WriterSession,
  type WriterTarget,
  type WriterValue,
} from './writer-messages.ts'

/** Requests on their way at once. The server does one after the other, and more of them hold each other up there. */
const writesAtOnce = 4
/** A write that met another's is tried again for so long. */
const retryWithinMs = 2_000
const retryDelayMs = 20
/** Migrations may rewrite tables. */
const migrationDeadlineMs = 60_000

/** Writes to a libSQL server: a batch is one request, and one transaction there. */
export function openRemoteSession({
  location,
  deadlineMs,
}: Extract<WriterTarget, { kind: 'remote' }>): WriterSession {
  const client = openRemoteClient(location, { deadlineMs, concurrency: writesAtOnce })
  const patient = openRemoteClient(location, { deadlineMs: migrationDeadlineMs, concurrency: 1 })
  const run = async (call: WriterCall): Promise<WriterValue> => {
    switch (call.method) {
      case 'execute':
        return toPlainResult(await inTurn(() => client.execute(call.statement)))
      case 'batch':
        return (await inTurn(() => client.batch(call.statements, 'write'))).map(toPlainResult)
      case 'migrate':
        return (await patient.migrate(call.statements)).map(toPlainResult)
      case 'executeMultiple':
        await patient.executeMultiple(call.sql)
        return null
      case 'clearStalePages':
      case 'emptyLog':
      case 'keepBallast':
        throw new Error("A server's disk is its own")
    }
  }
  return {
    async run(call) {
      try {
        return await run(call)
      } catch (error) {
        throw Object.assign(error instanceof Error ? error : new Error(String(error)), {
          code: codeOf(error),
        })
      }
    },
    async close() {
      client.close()
      patient.close()
    },
  }
}

function codeOf(error: unknown): string {
  return unservedCode(error) ?? (error instanceof LibsqlError ? error.code : 'UNKNOWN')
}

/** A server answers at once that another write is under way; nothing of this one is done then. */
async function inTurn<Result>(write: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + retryWithinMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      const isBusy = error instanceof LibsqlError && meansLock(error.code)
      if (!isBusy || performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs * (0.5 + Math.random())))
    }
  }
}
