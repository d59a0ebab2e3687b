import { parentPort, workerData } from 'node:worker_threads'
import { endWorker } from '../end-worker.ts'
import { openFileSession } from './file-session.ts'
import { openRemoteSession } from './remote-session.ts'
import type { WriterRequest, WriterTarget } from './writer-messages.ts'

const port = parentPort
if (!port) throw new Error('writer-worker.ts runs as a worker thread only')

const target: WriterTarget = workerData
const session = target.kind === 'file' ? openFileSession(target.url) : openRemoteSession(target)
let queue: Promise<void> = Promise.resolve()

port.on('message', (request: WriterRequest) => {
  session.arrived(request.id)
  // A connection of our own does one thing at a time. A server takes many, which may overtake each other.
  const isAlone = target.kind === 'file' || request.call.method === 'close'
  const done = isAlone ? queue.then(() => answer(request)) : answer(request)
  queue = isAlone ? done : Promise.all([queue, done]).then(() => undefined)
})

async function answer(request: WriterRequest): Promise<void> {
  port?.postMessage(await session.answer(request))
  if (request.call.method === 'close' && port) endWorker(port)
}
