import { totalmem } from 'node:os'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { ReadLocation } from '../../../db/location.ts'
import type { Reader } from '../../../db/reader.ts'
import { Background } from '../../../threads/background.ts'
import type { Hnswlib, LoadedAddon } from './addon.ts'
import { ComparedVectors } from './compared-vectors.ts'
import { IndexFiles } from './files.ts'
import { type IndexLog, type IndexState, ProjectIndex, type VectorSearch } from './project-index.ts'
import { type VectorHit, VectorRows } from './rows.ts'
import { type IndexReport, verifyFile } from './verification.ts'

const hitsMax = 1_000
const retryMs = 1_000
/** Comparing this many rows takes less than a millisecond, so the index of a smaller project is freed once it is saved. */
const comparedRowsMax = 256
/** Above this share of the machine's memory, the least recently used indexes are freed. */
const memoryShareMax = 0.25
const limitsDefault = {
  /** After this long without a use, an index is freed. */
  idleMs: 600_000,
  memoryBytesMax: totalmem() * memoryShareMax,
  /** Up to so many labels are compared one by one, in up to 5 ms once they are read; among more, the graph is searched. */
  comparedLabelsMax: 5_000,
  now: () => performance.now(),
}

/** What the index thread is started with. */
export interface IndexWorkerData {
  /** Where the rows are. */
  readsAt: ReadLocation
  /** The folder of the index files, one per project. */
  folder: string
  /** Only rows of this embedding space are indexed. */
  space: string
  /** Whether this process writes the files: only the owner of the folder does. See `takeFiles`. */
  savesFiles: boolean
  /** Searches the rows instead of a graph, as without the addon. */
  exact?: boolean
}

type IndexesOptions = IndexWorkerData & Partial<typeof limitsDefault>

/**
 * An HNSW graph per project over the vectors in the rows, in memory only while it is searched or changed. Small projects
 * are searched without it, and so are all if the addon cannot be loaded: by comparing every row.
 */
export class Indexes {
  readonly #reader: Reader
  readonly #rows: VectorRows
  /** Null where the rows are on another machine, which compares them there. */
  readonly #compared: ComparedVectors | null
  readonly #files: IndexFiles
  readonly #addon: LoadedAddon
  readonly #log: IndexLog
  /** The indexes in memory, the least recently used first. */
  readonly #projects = new Map<number, ProjectIndex>()
  readonly #usedAt = new WeakMap<ProjectIndex, number>()
  readonly #limits: typeof limitsDefault
  readonly #freeing: Background
  #savesFiles: boolean
  #isWorking = false
  #isClosed = false

  constructor(reader: Reader, addon: LoadedAddon, options: IndexesOptions, log: IndexLog) {
    const { readsAt, space, folder, savesFiles } = options
    this.#limits = { ...limitsDefault, ...options }
    this.#freeing = new Background({
      work: async () => this.freeUnused(),
      delayMs: 0,
      retryMs,
      onFailure: (error) => log('error', 'An index could not be freed', { error: String(error) }),
    })
    this.#reader = reader
    this.#addon = addon
    this.#log = log
    this.#rows = new VectorRows(reader.db, space)
    this.#compared = readsAt.kind === 'file' ? new ComparedVectors(this.#rows) : null
    this.#files = new IndexFiles(folder)
    this.#savesFiles = savesFiles
    if (savesFiles) this.#files.prepare()
    if (!addon.hnswlib) log('warn', 'Vector search compares every row and is slow', { reason: addon.reason })
  }

  /** Makes the index equal the rows: loads its file if that is sound, adds what is missing, removes what is deleted. */
  async reconcile(projectId: number): Promise<IndexState> {
    const state = await this.#open(projectId)?.reconcile()
    return state ?? { projectId, vectors: 0, tombstones: 0, fileBytes: 0 }
  }

  /**
   * Reconciles unless the index, or its file while it is not in memory, equals the rows of this knowledge version
   * already. Resolves once the bytes of vectors whose rows are deleted are erased from the file.
   */
  async follow(projectId: number, version: number): Promise<void> {
    this.#compared?.forget(projectId)
    if (!this.#projects.has(projectId)) {
      if (!this.#savesFiles || (await this.#files.version(projectId)) >= version) return
    }
    await this.#open(projectId)?.follow(version)
  }

  /**
   * Call it once the vectors of these labels are committed. Resolves when search returns them.
   * @param version the project's knowledge version after that commit, if known
   */
  async add(projectId: number, labels: readonly number[], version?: number): Promise<void> {
    // Without a file to save, nothing is to do: the next search that needs the index reads the rows.
    if (this.#savesFiles || this.#projects.has(projectId)) await this.#open(projectId)?.add(labels, version)
  }

  /**
   * Call it once the rows of these labels are deleted. Resolves when search no longer returns them.
   * @param version the project's knowledge version after that commit, if known
   */
  async remove(projectId: number, labels: readonly number[], version?: number): Promise<void> {
    this.#compared?.forget(projectId)
    this.#projects.get(projectId)?.remove(labels, version)
  }

  /** The nearest vectors, best first. */
  async search(
    projectId: number,
    query: Float32Array,
    limit: number,
    options: VectorSearch = {},
  ): Promise<VectorHit[]> {
    const count = Math.min(limit, hitsMax)
    const { labels } = options
    const isCompared = labels
      ? labels.length <= this.#limits.comparedLabelsMax
      : !(await this.#needsGraph(projectId))
    const project = isCompared ? null : this.#open(projectId)
    if (project) return project.search(query, count, options)
    return labels && this.#compared
      ? this.#compared.nearest(projectId, query, count, labels)
      : this.#rows.nearest(projectId, query, count, labels)
  }

  async #needsGraph(projectId: number): Promise<boolean> {
    if (this.#projects.get(projectId)?.isWhole) return true
    return this.#rows.hasMoreThan(projectId, comparedRowsMax)
  }

  /** Resolves when the project's file has no byte of a vector whose row is deleted. */
  async eraseDeleted(projectId: number): Promise<void> {
    if (!this.#savesFiles) return
    const project = this.#open(projectId)
    // Without hnswlib, the file cannot be rewritten. A later start with hnswlib builds a new one from the rows.
    if (!project) return this.#files.delete(projectId)
    await project.eraseDeleted()
  }

  /** Compares the file with the rows, without changing either. */
  async verify(projectId: number): Promise<IndexReport> {
    const { hnswlib } = this.#addon
    return verifyFile(projectId, { hnswlib, rows: this.#rows, files: this.#files })
  }

  /** Rebuilds the index from the rows and saves it. */
  async rebuild(projectId: number): Promise<void> {
    await this.#open(projectId)?.rebuild()
  }

  /** Call it once the project is deleted. Removes its index from memory and disk. */
  async drop(projectId: number): Promise<void> {
    this.#compared?.forget(projectId)
    const project = this.#projects.get(projectId)
    this.#projects.delete(projectId)
    if (project) await project.drop()
    else if (this.#savesFiles) await this.#files.delete(projectId)
  }

  /** Returns the states of the indexes in memory. */
  async states(): Promise<IndexState[]> {
    return [...this.#projects.values()].map((project) => project.state)
  }

  /** Makes this process the one that writes the files. */
  async takeFiles(): Promise<void> {
    if (this.#savesFiles) return
    this.#files.prepare()
    this.#savesFiles = true
    // The previous owner may have left changes unsaved. They are in memory here as well.
    for (const project of this.#projects.values()) project.saveSoon()
  }

  /** Saves what is unsaved. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#freeing.close()
    for (const project of this.#projects.values()) {
      // The others still have to be saved. The next start builds this one from the rows.
      await project.close().catch((error) => this.#logFailure('An index could not be saved', project, error))
    }
    this.#reader.close()
  }

  /**
   * Frees the indexes in memory that are saved and small or unused for long, and the least recently used ones while all
   * together take too much.
   * @returns milliseconds until the next one may be unused for long; null if none is in memory
   */
  freeUnused(): number | null {
    const { idleMs: unusedMs, memoryBytesMax } = this.#limits
    const now = this.#limits.now()
    const projects = [...this.#projects.values()]
    let bytes = projects.reduce((total, project) => total + project.bytes, 0)
    let idleMsMax = 0
    for (const project of projects) {
      const idleMs = now - (this.#usedAt.get(project) ?? now)
      const isUnused = idleMs >= unusedMs || bytes > memoryBytesMax
      if (project.isAtRest && (isUnused || project.state.vectors <= comparedRowsMax)) {
        bytes -= project.bytes
        this.#projects.delete(project.id)
        project.free()
      } else idleMsMax = Math.max(idleMsMax, Math.min(idleMs, unusedMs - 1))
    }
    return this.#projects.size > 0 ? unusedMs - idleMsMax : null
  }

  /** The project's index, which is empty until its first use; null without hnswlib. */
  #open(projectId: number): ProjectIndex | null {
    const { hnswlib } = this.#addon
    if (!hnswlib) return null
    const project = this.#projects.get(projectId) ?? this.#create(projectId, hnswlib)
    // The map is in the order of use.
    this.#projects.delete(projectId)
    this.#projects.set(projectId, project)
    this.#usedAt.set(project, this.#limits.now())
    return project
  }

  #create(projectId: number, hnswlib: Hnswlib): ProjectIndex {
    return new ProjectIndex(projectId, {
      hnswlib,
      rows: this.#rows,
      files: this.#files,
      savesFiles: () => this.#savesFiles,
      log: this.#log,
      onWork: () => void this.#work(),
      onRest: () => this.#freeing.soon(),
    })
  }

  /** Adds vectors, one slice of each project in turn, until none is pending. Messages are answered between slices. */
  async #work(): Promise<void> {
    if (this.#isWorking) return
    this.#isWorking = true
    while (!this.#isClosed) {
      const projects = [...this.#projects.values()].filter((project) => project.hasWork)
      if (projects.length === 0) break
      for (const project of projects) {
        // When the rows cannot be read, the labels stay pending.
        await project.work().catch(async (error) => {
          this.#logFailure('Vectors could not be indexed yet', project, error)
          await sleep(retryMs)
        })
        await setImmediate()
      }
    }
    this.#isWorking = false
  }

  #logFailure(message: string, { id }: ProjectIndex, error: unknown): void {
    this.#log('error', message, { projectId: id, error: String(error) })
  }
}
