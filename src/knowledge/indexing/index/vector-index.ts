import { Thread } from '../../../threads/thread.ts'
import type { Indexes, IndexWorkerData } from './indexes.ts'
import type { IndexLog } from './project-index.ts'

/** Requests that may wait for the thread. */
const requestsWaitingMax = 2_000
const closeWithinMs = 15_000

/** The indexes of all projects, in a worker thread. */
export type VectorIndex = Omit<Pick<Indexes, keyof Indexes>, 'freeUnused'>

interface VectorIndexOptions extends IndexWorkerData {
  log?: IndexLog
}

/** Starts the thread, and restarts it when it fails. */
export function openVectorIndex({ log = () => undefined, ...data }: VectorIndexOptions): VectorIndex {
  const thread = new Thread<VectorIndex, IndexWorkerData, Parameters<IndexLog>>({
    script: new URL('./index-worker.ts', import.meta.url),
    name: 'The vector index',
    data: () => data,
    waitingMax: requestsWaitingMax,
    onClose: 'finish',
    closeWithinMs,
    onEvent: (entry) => log(...entry),
    onFailure: (error, restartMs) =>
      log('error', 'The vector index failed and is being restarted', { error: error.message, restartMs }),
  })
  const ask = <Name extends keyof VectorIndex>(name: Name) => {
    return (...args: Parameters<VectorIndex[Name]>) => thread.ask(name, ...args)
  }
  return {
    reconcile: ask('reconcile'),
    follow: ask('follow'),
    add: ask('add'),
    rebuild: ask('rebuild'),
    remove: ask('remove'),
    search: ask('search'),
    eraseDeleted: ask('eraseDeleted'),
    verify: ask('verify'),
    states: ask('states'),
    drop: ask('drop'),
    async takeFiles() {
      if (data.savesFiles) return
      await thread.ask('takeFiles')
      data.savesFiles = true
    },
    close: () => thread.close(),
  }
}
