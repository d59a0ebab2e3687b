import { parentPort, workerData } from 'node:worker_threads'
import { LibsqlError } from '@libsql/client'
import { openFileSession } from './file-session.ts'
import { meansAway, primaryAwayCode } from './remote-client.ts'
import { openRemoteSession } from './remote-session.ts'
import type { WriterReply, WriterRequest, WriterTarget } from './writer-messages.ts'

const port = parentPort
if (!port) throw new Error('writer-worker.ts runs as a worker thread only')

const target: WriterTarget = workerData
const session = target.kind === 'file' ? openFileSession(target.url) : openRemoteSession(target)
let queue: Promise<void> = Promise.resolve()

port.on('message', (request: WriterRequest) => {
  // A connection of our own does one thing at a time. A server takes many, which may overtake each other.
  const isAlone = target.kind === 'file' || request.call.method === 'close'
  const done = isAlone ? queue.then(() => answer(request)) : answer(request)
  queue = Promise.all([queue, done]).then(() => undefined)
})

async function answer(request: WriterRequest): Promise<void> {
  port?.postMessage(await toReply(request))
  if (request.call.method === 'close') port?.close()
}

async function toReply({ id, call }: WriterRequest): Promise<WriterReply> {
  try {
    return { id, ok: true, value: await session.run(call) }
  } catch (error) {
    const code = codeOf(error)
    await session.recover(code)
    return { id, ok: false, error: { message: error instanceof Error ? error.message : String(error), code } }
  }
}

function codeOf(error: unknown): string {
  if (meansAway(error)) return primaryAwayCode
  return error instanceof LibsqlError ? error.code : 'UNKNOWN'
}
