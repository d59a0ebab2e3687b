import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { ReadLocation } from '../../db/location.ts'
import type { Reader } from '../../db/reader.ts'
import type { LoadedAddon } from './addon.ts'
import { IndexFiles } from './files.ts'
import { type IndexLog, type IndexState, ProjectIndex } from './project-index.ts'
import { type VectorHit, VectorRows } from './rows.ts'
import { type IndexReport, verifyFile } from './verification.ts'

const hitsMax = 1_000
const retryMs = 1_000

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

/** An HNSW graph per project over the vectors in the rows. If the addon cannot be loaded, search compares every row. */
export class Indexes {
  readonly #reader: Reader
  readonly #rows: VectorRows
  readonly #files: IndexFiles
  readonly #addon: LoadedAddon
  readonly #log: IndexLog
  readonly #projects = new Map<number, ProjectIndex>()
  #savesFiles: boolean
  #isWorking = false
  #isClosed = false

  constructor(
    reader: Reader,
    addon: LoadedAddon,
    { space, folder, savesFiles }: IndexWorkerData,
    log: IndexLog,
  ) {
    this.#reader = reader
    this.#addon = addon
    this.#log = log
    this.#rows = new VectorRows(reader.db, space)
    this.#files = new IndexFiles(folder)
    this.#savesFiles = savesFiles
    if (savesFiles) this.#files.prepare()
    if (!addon.hnswlib) log('warn', 'Vector search compares every row and is slow', { reason: addon.reason })
  }

  /** Makes the index equal the rows: loads its file if that is sound, adds what is missing, removes what is deleted. */
  async reconcile(projectId: number): Promise<IndexState> {
    const state = await this.#project(projectId)?.reconcile()
    return state ?? { projectId, vectors: 0, tombstones: 0, fileBytes: 0 }
  }

  /**
   * Reconciles unless the index equals the rows of this knowledge version already. Resolves once the bytes of vectors
   * whose rows are deleted are erased from the file.
   */
  async follow(projectId: number, version: number): Promise<void> {
    await this.#project(projectId)?.follow(version)
  }

  /**
   * Call it once the vectors of these labels are committed. Resolves when search returns them.
   * @param version the project's knowledge version after that commit, if known
   */
  async add(projectId: number, labels: readonly number[], version?: number): Promise<void> {
    await this.#project(projectId)?.add(labels, version)
  }

  /**
   * Call it once the rows of these labels are deleted. Resolves when search no longer returns them.
   * @param version the project's knowledge version after that commit, if known
   */
  async remove(projectId: number, labels: readonly number[], version?: number): Promise<void> {
    this.#projects.get(projectId)?.remove(labels, version)
  }

  /**
   * The nearest vectors, best first; with `labels`, the nearest of these, exactly.
   * @param replacedSeq a change of the project: the vectors that it brought are among those that are searched
   */
  async search(
    projectId: number,
    query: Float32Array,
    limit: number,
    labels?: readonly number[],
    replacedSeq?: number,
  ): Promise<VectorHit[]> {
    const count = Math.min(limit, hitsMax)
    const project = this.#projects.get(projectId)
    return project
      ? project.search(query, count, labels, replacedSeq)
      : this.#rows.nearest(projectId, query, count, labels)
  }

  /** Resolves when the project's file has no byte of a vector whose row is deleted. */
  async eraseDeleted(projectId: number): Promise<void> {
    if (!this.#savesFiles) return
    const project = this.#project(projectId)
    // Without hnswlib, the file cannot be rewritten. A later start with hnswlib builds a new one from the rows.
    if (!project) return this.#files.remove(projectId)
    await project.eraseDeleted()
  }

  /** Compares the file with the rows, without changing either. */
  async verify(projectId: number): Promise<IndexReport> {
    const { hnswlib } = this.#addon
    return verifyFile(projectId, { hnswlib, rows: this.#rows, files: this.#files })
  }

  /** Rebuilds the index from the rows and saves it. */
  async rebuild(projectId: number): Promise<void> {
    await this.#project(projectId)?.rebuild()
  }

  /** Call it once the project is deleted. Removes its index from memory and disk. */
  async drop(projectId: number): Promise<void> {
    const project = this.#projects.get(projectId)
    this.#projects.delete(projectId)
    if (project) await project.drop()
    else if (this.#savesFiles) await this.#files.remove(projectId)
  }

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
    for (const project of this.#projects.values()) {
      // The others still have to be saved. The next start builds this one from the rows.
      await project.close().catch((error) => this.#logFailure('An index could not be saved', project, error))
    }
    this.#reader.close()
  }

  #project(projectId: number): ProjectIndex | null {
    const known = this.#projects.get(projectId)
    if (known) return known
    const { hnswlib } = this.#addon
    if (!hnswlib) return null
    const project = new ProjectIndex(projectId, {
      hnswlib,
      rows: this.#rows,
      files: this.#files,
      savesFiles: () => this.#savesFiles,
      log: this.#log,
      onWork: () => void this.#work(),
    })
    this.#projects.set(projectId, project)
    return project
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
