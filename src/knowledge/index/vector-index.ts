import type { ReadLocation } from '../../db/location.ts'
import { Thread } from '../../threads/thread.ts'

/** Requests that may wait for the thread. */
const requestsWaitingMax = 2_000
const closeWithinMs = 15_000

export interface VectorHit {
  label: number
  /** Cosine similarity: 1 is the same direction. */
  similarity: number
}

export interface IndexState {
  projectId: number
  /** Vectors that search returns from the index; 0 while the rows are searched instead. */
  vectors: number
  /** Removed vectors that still take up room in memory, as overwritten places in the file. */
  tombstones: number
  /** Size of the project's file as last written or read by this process; 0 when there is none. */
  fileBytes: number
}

/** What the file says against what the rows say. Only `problem` and `labelsWithoutRow` are faults. */
export interface IndexReport {
  projectId: number
  /** Why the file would not be loaded (damaged, of another space, …); null when it is sound or missing. */
  problem: string | null
  fileBytes: number
  fileVectors: number
  rowVectors: number
  /** Vectors in the file whose row is gone. */
  labelsWithoutRow: number[]
  /** Rows not in the file yet: they wait to be indexed or saved. */
  rowsNotInFile: number
  /** Share of the true ten nearest that the file's index finds, over a sample; null without an index. */
  recallAt10: number | null
}

/** One HNSW graph a project over the vectors in the rows, which remain the truth. */
export interface VectorIndex {
  /**
   * Reconciles unless the index equals the rows of this knowledge version already. Resolves once the bytes of vectors
   * whose rows are gone have left the file.
   */
  follow(projectId: number, version: number): Promise<void>
  /** Makes the index equal the rows: loads its file if sound, adds what is missing, removes what is gone. */
  reconcile(projectId: number): Promise<IndexState>
  /**
   * The vectors of these labels were just committed; resolves when search returns them.
   * @param version the project's knowledge version after that commit, if known
   */
  add(projectId: number, labels: readonly number[], version?: number): Promise<void>
  /** The rows of these labels were just deleted; resolves when search no longer returns them. @param version as above */
  remove(projectId: number, labels: readonly number[], version?: number): Promise<void>
  /** The nearest vectors, best first; with `labels`, the nearest of these, exactly. */
  search(
    projectId: number,
    query: Float32Array,
    limit: number,
    labels?: readonly number[],
  ): Promise<VectorHit[]>
  /** Resolves when no byte of a vector whose row is gone is in the project's file. */
  eraseDeleted(projectId: number): Promise<void>
  /** Compares the file with the rows; changes nothing. */
  verify(projectId: number): Promise<IndexReport>
  /** Builds the index anew from the rows and saves it. */
  rebuild(projectId: number): Promise<IndexState>
  /** The project was deleted: its index leaves memory and disk. */
  drop(projectId: number): Promise<void>
  states(): Promise<IndexState[]>
  /** This process is now the one that writes the files. */
  takeFiles(): Promise<void>
  /** Saves what is unsaved and ends the thread. */
  close(): Promise<void>
}

export type IndexLog = (level: LogLevel, message: string, fields: LogFields) => void
export type LogLevel = 'info' | 'warn' | 'error'
export type LogFields = Record<string, string | number>

/** What the thread has to tell the log. */
export interface IndexLogEntry {
  level: LogLevel
  message: string
  fields: LogFields
}

/** What the thread is started with. */
export interface IndexWorkerData {
  readsAt: ReadLocation
  folder: string
  space: string
  savesFiles: boolean
  exact: boolean
}

export interface VectorIndexOptions {
  /** Where the rows are. */
  readsAt: ReadLocation
  /** Where the index files are, one a project. */
  folder: string
  /** Only rows of this embedding space are indexed. */
  space: string
  /** Only the one process that owns the folder writes there; others load and follow. See `takeFiles`. */
  savesFiles: boolean
  /** Search the rows instead of a graph, as without the addon. */
  exact?: boolean
  log?: IndexLog
}

/**
 * Starts a thread that holds every project's index, and again when it fails. Where the addon cannot be loaded, search is
 * exact.
 */
export function openVectorIndex(options: VectorIndexOptions): VectorIndex {
  const { log = () => undefined, exact = false, ...data } = options
  /** What a thread that was started again must hold. */
  const projects = new Set<number>()
  let { savesFiles } = options
  const thread = new Thread<VectorIndex, IndexWorkerData, IndexLogEntry>({
    script: new URL('./index-worker.ts', import.meta.url),
    name: 'The vector index',
    data: () => ({ readsAt: data.readsAt, folder: data.folder, space: data.space, exact, savesFiles }),
    waitingMax: requestsWaitingMax,
    onClose: 'finish',
    closeWithinMs,
    onEvent: ({ level, message, fields }) => log(level, message, fields),
    onFailure: (error, restartMs) =>
      log('error', 'The vector index failed and is started again', { error: error.message, restartMs }),
    onRestart: () => {
      for (const projectId of projects) {
        thread
          .ask('reconcile', projectId)
          .catch((error) =>
            log('error', 'A vector index could not be reconciled', { projectId, error: String(error) }),
          )
      }
    },
  })
  const ask = <Name extends keyof VectorIndex>(name: Name) => {
    return (...args: Parameters<VectorIndex[Name]>) => thread.ask(name, ...args)
  }
  /** The same for methods after which the thread holds the project's index. */
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
      savesFiles = true
    },
    close: () => thread.close(),
  }
}
