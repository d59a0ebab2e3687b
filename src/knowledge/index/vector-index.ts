import { Thread } from '../../threads/thread.ts'
import type { Indexes, IndexWorkerData } from './indexes.ts'
import type { IndexLog } from './project-index.ts'

/** Requests that may wait for the thread. */
const requestsWaitingMax = 2_000
const closeWithinMs = 15_000

/** The indexes of all projects, in a worker thread. */
export type VectorIndex = Pick<Indexes, keyof Indexes>

export interface VectorIndexOptions extends IndexWorkerData {
  log?: IndexLog
}

/** Starts the thread, and restarts it when it fails. */
export function openVectorIndex({ log = () => undefined, ...data }: VectorIndexOptions): VectorIndex {
  /** The projects whose index a restarted thread must load again. */
  const projects = new Set<number>()
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
    onRestart: () => {
      for (const projectId of projects) {
        const onError = (error: unknown) =>
          log('error', 'A vector index could not be reconciled', { projectId, error: String(error) })
        thread.ask('reconcile', projectId).catch(onError)
      }
    },
  })
  const ask = <Name extends keyof VectorIndex>(name: Name) => {
    return (...args: Parameters<VectorIndex[Name]>) => thread.ask(name, ...args)
  }
  /** The same for methods that load the project's index in the thread. */
  const open = <Name extends 'reconcile' | 'follow' | 'add' | 'rebuild'>(name: Name) => {
    return (...args: Parameters<VectorIndex[Name]>) => {
      projects.add(args[0])
      return thread.ask(name, ...args)
    }
  }
  return {
    reconcile: open('reconcile'),
    follow: open('follow'),
    add: open('add'),
    rebuild: open('rebuild'),
    remove: ask('remove'),
    search: ask('search'),
    eraseDeleted: ask('eraseDeleted'),
    verify: ask('verify'),
    states: ask('states'),
    async drop(projectId) {
      projects.delete(projectId)
      await thread.ask('drop', projectId)
    },
    async takeFiles() {
      await thread.ask('takeFiles')
      data.savesFiles = true
    },
    close: () => thread.close(),
  }
}
