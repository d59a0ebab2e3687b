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

/** Concurrent requests. The server runs one write at a time, and more would delay each other there. */
const writesAtOnce = 4
/** How long a write that met another's is retried. */
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
        return toPlainResult(await whenFree(() => client.execute(call.statement)))
      case 'batch':
        return (await whenFree(() => client.batch(call.statements, 'write'))).map(toPlainResult)
      case 'migrate':
        return (await patient.migrate(call.statements)).map(toPlainResult)
      case 'executeMultiple':
        await patient.executeMultiple(call.sql)
        return null
      case 'clearStalePages':
      case 'emptyLog':
      case 'keepBallast':
        throw new Error('A remote database has no local file')
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

/** Retries while another write is under way: the server then refuses this one at once and does none of it. */
async function whenFree<Result>(write: () => Promise<Result>): Promise<Result> {
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
