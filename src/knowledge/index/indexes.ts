import type { Reader } from '../../db/reader.ts'
import type { LoadedAddon } from './addon.ts'
import { type ExactSearch, exactSearch } from './exact.ts'
import { IndexFiles } from './files.ts'
import { ProjectIndex } from './project-index.ts'
import { VectorRows } from './rows.ts'
import type {
  IndexLog,
  IndexReport,
  IndexState,
  IndexWorkerData,
  VectorHit,
  VectorIndex,
} from './vector-index.ts'
import { verifyFile } from './verification.ts'

const hitsMax = 1_000
const retryMs = 1_000

/** Every project's index, in the worker. Adding is cut into slices, between which messages are answered. */
export class Indexes implements VectorIndex {
  readonly #reader: Reader
  readonly #rows: VectorRows
  readonly #exactSearch: ExactSearch
  readonly #files: IndexFiles
  readonly #addon: LoadedAddon
  readonly #options: IndexWorkerData
  readonly #log: IndexLog
  readonly #projects = new Map<number, ProjectIndex>()
  #prepared: Promise<void>
  #savesFiles: boolean
  #isWorking = false
  #isClosed = false

  constructor(reader: Reader, addon: LoadedAddon, options: IndexWorkerData, log: IndexLog) {
    this.#reader = reader
    this.#addon = addon
    this.#options = options
    this.#log = log
    this.#rows = new VectorRows(reader.db, options.space)
    this.#exactSearch = exactSearch(reader.db)
    this.#files = new IndexFiles(options.folder)
    this.#savesFiles = options.savesFiles
    this.#prepared = options.savesFiles ? this.#files.prepare() : Promise.resolve()
    if (!addon.hnswlib) log('warn', 'Vector search compares every row and is slow', { reason: addon.reason })
  }

  async reconcile(projectId: number): Promise<IndexState> {
    await this.#prepared
    return (await this.#project(projectId)?.reconcile()) ?? withoutGraph(projectId)
  }

  async follow(projectId: number, version: number): Promise<void> {
    await this.#prepared
    await this.#project(projectId)?.follow(version)
  }

  async add(projectId: number, labels: readonly number[], version?: number): Promise<void> {
    await this.#prepared
    await this.#project(projectId)?.add(labels, version)
  }

  async remove(projectId: number, labels: readonly number[], version?: number): Promise<void> {
    this.#projects.get(projectId)?.remove(labels, version)
  }

  async search(
    projectId: number,
    query: Float32Array,
    limit: number,
    labels?: readonly number[],
  ): Promise<VectorHit[]> {
    const count = Math.min(limit, hitsMax)
    const project = this.#projects.get(projectId)
    if (project) return project.search(query, count, labels)
    return this.#exactSearch({ projectId, space: this.#options.space, query, limit: count, labels })
  }

  async eraseDeleted(projectId: number): Promise<void> {
    await this.#prepared
    if (!this.#savesFiles) return
    const project = this.#project(projectId)
    // Without hnswlib the file cannot be written, only built anew some day from the rows.
    if (!project) return this.#files.remove(projectId)
    await project.eraseDeleted()
  }

  async verify(projectId: number): Promise<IndexReport> {
    return verifyFile(projectId, {
      hnswlib: this.#addon.hnswlib,
      rows: this.#rows,
      files: this.#files,
      exactSearch: this.#exactSearch,
      space: this.#options.space,
    })
  }

  async rebuild(projectId: number): Promise<IndexState> {
    await this.#prepared
    return (await this.#project(projectId)?.rebuild()) ?? withoutGraph(projectId)
  }

  async drop(projectId: number): Promise<void> {
    await this.#prepared
    const project = this.#projects.get(projectId)
    this.#projects.delete(projectId)
    if (project) await project.drop()
    else if (this.#savesFiles) await this.#files.remove(projectId)
  }

  async states(): Promise<IndexState[]> {
    return [...this.#projects.values()].map((project) => project.state)
  }

  async takeFiles(): Promise<void> {
    if (this.#savesFiles) return
    // Only then: what fails is asked for again.
    await this.#files.prepare()
    this.#savesFiles = true
    // What the owner before had not saved is in memory here as well.
    for (const project of this.#projects.values()) project.saveSoon()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const project of this.#projects.values()) {
      // The others are still to be saved; what is not saved is built from the rows at the next start.
      await project
        .close()
        .catch((error) =>
          this.#log('error', 'An index could not be saved', { projectId: project.id, error: String(error) }),
        )
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
      exactSearch: this.#exactSearch,
      files: this.#files,
      space: this.#options.space,
      savesFiles: () => this.#savesFiles,
      log: this.#log,
      onWork: () => void this.#work(),
    })
    this.#projects.set(projectId, project)
    return project
  }

  /** One slice of each project in turn, until there is nothing left to add. */
  async #work(): Promise<void> {
    if (this.#isWorking) return
    this.#isWorking = true
    while (!this.#isClosed) {
      const projects = [...this.#projects.values()].filter((project) => project.hasWork)
      if (projects.length === 0) break
      for (const project of projects) {
        await this.#workOn(project)
        await nextTurn()
      }
    }
    this.#isWorking = false
  }

  async #workOn(project: ProjectIndex): Promise<void> {
    try {
      await project.work()
    } catch (error) {
      // The labels are still pending: the rows could not be read just now.
      this.#log('error', 'Vectors could not be indexed yet', { projectId: project.id, error: String(error) })
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
}

function withoutGraph(projectId: number): IndexState {
  return { projectId, vectors: 0, tombstones: 0, fileBytes: 0 }
}

/** Lets waiting messages be answered first. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
