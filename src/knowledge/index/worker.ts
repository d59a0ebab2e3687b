import { parentPort, workerData } from 'node:worker_threads'
import { openReaderAt } from '../../db/reader.ts'
import { endWorker } from '../../end-worker.ts'
import { lowerPriority } from '../../thread-priority.ts'
import { loadAddon } from './addon.ts'
import { Indexes } from './indexes.ts'
import type { IndexReply, IndexRequest, IndexValue, IndexWorkerData } from './messages.ts'
import type { VectorIndex } from './vector-index.ts'

/** 0 is normal, 19 the lowest. */
const niceness = 5

const port = parentPort
if (!port) throw new Error('worker.ts runs as a worker thread only')

lowerPriority(niceness)
const options: IndexWorkerData = workerData
const addon = options.exact ? ({ hnswlib: null, reason: 'it is configured so' } as const) : loadAddon()
const indexes: VectorIndex = new Indexes(
  openReaderAt(options.readsAt),
  addon,
  options,
  (level, message, fields) => reply({ kind: 'log', level, message, fields }),
)

port.on('message', async ({ id, method, args }: IndexRequest) => {
  try {
    reply({ kind: 'value', id, value: await call(method, args) })
  } catch (error) {
    reply({ kind: 'error', id, message: error instanceof Error ? error.message : String(error) })
  }
  if (method === 'close' && port) endWorker(port)
})

/** The main thread pairs every method with its own arguments: see WorkerIndex. */
function call(method: IndexRequest['method'], args: IndexRequest['args']): Promise<IndexValue> {
  const run = indexes[method] as (...args: unknown[]) => Promise<IndexValue>
  return run.apply(indexes, args)
}

function reply(message: IndexReply): void {
  port?.postMessage(message)
}
