import { openRemoteClient } from './remote-client.ts'
import { toPlainResult, type WriterSession, type WriterTarget } from './writer-messages.ts'

/** Requests on their way at once: the server does one after the other, but the way there takes its time. */
const writesAtOnce = 16
/** Migrations may rewrite tables. */
const migrationDeadlineMs = 60_000

/** Writes to a libSQL server: a batch is one request, and one transaction there. */
export function openRemoteSession({
  location,
  deadlineMs,
}: Extract<WriterTarget, { kind: 'remote' }>): WriterSession {
  const client = openRemoteClient(location, { deadlineMs, concurrency: writesAtOnce })
  const patient = openRemoteClient(location, { deadlineMs: migrationDeadlineMs, concurrency: 1 })
  return {
    async run(call) {
      switch (call.method) {
        case 'execute':
          return toPlainResult(await client.execute(call.statement))
        case 'batch':
          return (await client.batch(call.statements, 'write')).map(toPlainResult)
        case 'migrate':
          return (await patient.migrate(call.statements)).map(toPlainResult)
        case 'executeMultiple':
          await patient.executeMultiple(call.sql)
          return null
        case 'clearStalePages':
          throw new Error("A server's pages are its own")
        case 'close':
          client.close()
          patient.close()
          return null
      }
    },
    async recover() {},
  }
}
