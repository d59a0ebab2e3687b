import { Background } from '../../threads/background.ts'
import type { ExactSearch } from './exact.ts'
import { Filling } from './filling.ts'
import { FollowedVersion } from './followed-version.ts'
import type { Graph } from './graph.ts'
import { type LoadOptions, loadGraph } from './loading.ts'
import type { IndexLog, IndexState, VectorHit } from './vector-index.ts'

/** A graph of which more than this share is tombstones is built anew. */
const tombstoneShareMax = 0.25
/** Changes this close together are saved together. */
const saveDelayMs = 4_000
const saveRetryMs = 10_000
const saveRetryMsMax = 300_000

export interface ProjectIndexOptions extends LoadOptions {
  exactSearch: ExactSearch
  /** Whether this process writes the file. */
  savesFiles(): boolean
  log: IndexLog
  /** Called when there are vectors to add: see `hasWork`. */
  onWork(): void
}

/** Labels that were added and removed while the rows were being read. */
type Changes = Record<'added' | 'removed', Set<number>>

/** One project's index: a graph, the labels that wait to be added to it, and the file it is saved in. */
export class ProjectIndex {
  readonly id: number
  readonly #options: ProjectIndexOptions
  readonly #saver: Background
  #current: Filling
  /** The graph that will replace the current one when it is complete. */
  #next: Filling | null = null
  #loading: Promise<void> | null = null
  #isLoaded = false
  /** Until the graph has held every row once, search reads the rows. */
  #isComplete = false
  #rebuilding: Promise<void> | null = null
  /** hnswlib's own thread is reading the graph: nothing may be added to it. */
  #isWriting = false
  /** One for each read of the rows that is under way. */
  readonly #concurrent = new Set<Changes>()
  /** Counts what is still to be added as there. */
  readonly #version = new FollowedVersion()
  /** The file may hold vectors whose rows are gone. */
  #hasUnsavedRemovals = false
  #changes = 0
  #savedChanges = 0
  #fileBytes = 0

  constructor(id: number, options: ProjectIndexOptions) {
    this.id = id
    this.#options = options
    this.#current = new Filling(options.hnswlib)
    this.#saver = new Background({
      work: async () => {
        await this.#save()
        return null
      },
      delayMs: saveDelayMs,
      retryMs: saveRetryMs,
      retryMsMax: saveRetryMsMax,
      onFailure: (error) => this.#log('error', 'An index could not be saved', { error: String(error) }),
    })
  }

  get state(): IndexState {
    const graph = this.#current.graph
    return {
      projectId: this.id,
      vectors: this.#isComplete ? (graph?.labels.size ?? 0) : 0,
      tombstones: graph?.tombstones.size ?? 0,
      fileBytes: this.#fileBytes,
    }
  }

  async reconcile(): Promise<IndexState> {
    await this.#load()
    const version = await this.#followRows()
    await this.#settled()
    this.#isComplete = true
    if (version !== null) this.#version.compared(version)
    if (this.#isWorn()) this.#inBackground(this.#rebuild())
    return this.state
  }

  /** Reconciles unless the index equals this version's rows, and erases vectors whose rows are gone. */
  async follow(version: number): Promise<void> {
    if (this.#version.includes(version)) return
    await this.reconcile()
    if (this.#hasUnsavedRemovals) await this.eraseDeleted()
  }

  /** Resolves when search returns these labels. @param version see VectorIndex */
  async add(labels: readonly number[], version?: number): Promise<void> {
    // Until the index is loaded and compared with the rows, search reads the rows.
    if (!this.#isLoaded) return this.#inBackground(this.reconcile())
    for (const { added } of this.#concurrent) for (const label of labels) added.add(label)
    this.#enqueue(labels)
    this.#version.changed(version)
    if (this.#isComplete) await this.#settled()
  }

  remove(labels: readonly number[], version?: number): void {
    for (const { removed } of this.#concurrent) for (const label of labels) removed.add(label)
    if (!this.#isLoaded) return
    this.#current.remove(labels)
    this.#next?.remove(labels)
    this.#removed()
    this.#version.changed(version)
  }

  async search(query: Float32Array, limit: number, labels?: readonly number[]): Promise<VectorHit[]> {
    const { exactSearch, space } = this.#options
    const exact = () => exactSearch({ projectId: this.id, space, query, limit, labels })
    // A filter inside hnswlib calls JavaScript for every vector it meets; the rows take 1.4 us a label.
    if (labels || !this.#isComplete) return exact()
    const graph = this.#current.graph
    if (!graph) return []
    const hits = graph.search(query, limit)
    // Many equal vectors can link only to each other, so that no path leads on to the others.
    return hits.length < Math.min(limit, graph.labels.size) ? exact() : hits
  }

  get hasWork(): boolean {
    return this.#workable() !== null
  }

  /** Adds one slice of what is pending. */
  async work(): Promise<void> {
    const filling = this.#workable()
    if (!filling) return
    await filling.read((labels) => this.#options.rows.vectors(this.id, labels))
    // When a save that has begun meanwhile ends, it calls `onWork`.
    if (this.#isWritten(filling)) return
    filling.add((label, reason) => this.#log('error', 'A vector cannot be indexed', { label, reason }))
    if (filling === this.#current) this.#changed()
  }

  async eraseDeleted(): Promise<void> {
    if (!this.#options.savesFiles()) return
    await this.#load()
    try {
      await this.#saver.now()
    } catch {
      // A file that cannot be replaced, as on a full disk, is deleted: the rows have everything.
      await this.#options.files.remove(this.id)
      this.#fileBytes = 0
      this.#changed()
    }
  }

  saveSoon(): void {
    if (this.#isLoaded) this.#changed()
  }

  async rebuild(): Promise<IndexState> {
    if (this.#isLoaded) {
      await this.#rebuild()
    } else {
      // Nothing is in memory yet, so it is enough not to read the file.
      this.#isLoaded = true
      this.#changed()
      await this.reconcile()
    }
    if (this.#options.savesFiles()) await this.#saver.now()
    return this.state
  }

  async drop(): Promise<void> {
    await this.#saver.close()
    this.#current.free()
    this.#next?.free()
    if (this.#options.savesFiles()) await this.#options.files.remove(this.id)
  }

  /** Saves what is unsaved. */
  async close(): Promise<void> {
    await this.#saver.close()
    if (this.#options.savesFiles() && this.#changes !== this.#savedChanges) await this.#save()
  }

  #load(): Promise<void> {
    this.#loading ??= this.#loadFile().catch((error) => {
      this.#loading = null
      throw error
    })
    return this.#loading
  }

  async #loadFile(): Promise<void> {
    if (this.#isLoaded) return
    const { hnswlib, files, savesFiles } = this.#options
    const { graph, saved, problem } = await loadGraph(this.id, this.#options)
    if (this.#isLoaded) return
    if (problem !== null) {
      this.#log('warn', 'An index file is not used and is built anew from the rows', { problem })
      // Nothing will be read from it, and it may hold vectors that must be erased.
      if (savesFiles()) await files.remove(this.id)
    }
    if (graph) this.#current = new Filling(hnswlib, graph)
    this.#fileBytes = saved?.bytes ?? 0
    this.#version.loaded(saved?.knowledgeVersion ?? null)
    this.#isLoaded = true
    if (!graph) this.#changed()
  }

  /**
   * Removes labels without a row and enqueues rows that the graph lacks. The rows that were read do not decide about
   * labels that were added or removed meanwhile.
   * @returns the version of the rows, or an earlier one; null when the project is gone
   */
  async #followRows(): Promise<number | null> {
    const { rows } = this.#options
    const version = await rows.knowledgeVersion(this.id)
    const changes = { added: new Set<number>(), removed: new Set<number>() }
    this.#concurrent.add(changes)
    try {
      await this.#compare(version, changes)
      return version
    } finally {
      this.#concurrent.delete(changes)
    }
  }

  async #compare(version: number | null, { added, removed }: Changes): Promise<void> {
    const { rows } = this.#options
    const held = (this.#current.graph?.labels.size ?? 0) + this.#current.pending
    const isVersion = version !== null && version === this.#version.equal
    if (isVersion && (await rows.count(this.id)) === held) return
    const inRows = new Set(await rows.labels(this.id))
    for (const label of added) inRows.add(label)
    for (const label of removed) inRows.delete(label)
    this.#next?.keepOnly(inRows)
    if (this.#current.keepOnly(inRows)) this.#removed()
    const missing = [...inRows].filter((label) => !this.#current.has(label))
    if (missing.length > 0) this.#enqueue(missing)
  }

  #removed(): void {
    this.#hasUnsavedRemovals = true
    this.#changed()
    if (this.#isWorn()) this.#inBackground(this.#rebuild())
  }

  #enqueue(labels: readonly number[]): void {
    this.#current.enqueue(labels)
    this.#next?.enqueue(labels)
    this.#changed()
    this.#options.onWork()
  }

  /** Resolves when everything enqueued is in the graph, even if another graph replaces it meanwhile. */
  async #settled(): Promise<void> {
    let filling: Filling
    do {
      filling = this.#current
      await filling.settled()
    } while (filling !== this.#current)
  }

  #workable(): Filling | null {
    if (this.#current.pending > 0 && !this.#isWritten(this.#current)) return this.#current
    return this.#next !== null && this.#next.pending > 0 ? this.#next : null
  }

  #isWritten(filling: Filling): boolean {
    return this.#isWriting && filling === this.#current
  }

  #isWorn(): boolean {
    const graph = this.#current.graph
    if (!graph || !this.#isComplete) return false
    const dead = graph.tombstones.size
    return dead > (graph.labels.size + dead) * tombstoneShareMax
  }

  #rebuild(): Promise<void> {
    this.#rebuilding ??= this.#replaceGraph().finally(() => {
      this.#next = null
      this.#rebuilding = null
    })
    return this.#rebuilding
  }

  async #replaceGraph(): Promise<void> {
    const next = new Filling(this.#options.hnswlib)
    this.#next = next
    next.enqueue(await this.#options.rows.labels(this.id))
    this.#options.onWork()
    // Labels may be enqueued meanwhile, and a running save reads the old graph.
    while (next.pending > 0 || this.#saver.isRunning) {
      await next.settled()
      await this.#saver.idle()
    }
    const old = this.#current
    this.#current = next
    old.free()
    this.#changed()
  }

  #changed(): void {
    this.#changes++
    if (this.#options.savesFiles()) this.#saver.soon()
  }

  async #save(): Promise<void> {
    const version = await this.#followRows()
    const changes = this.#changes
    if (changes === this.#savedChanges) return
    const hadRemovals = this.#hasUnsavedRemovals
    this.#hasUnsavedRemovals = false
    try {
      await this.#write(version)
    } catch (error) {
      this.#hasUnsavedRemovals ||= hadRemovals
      throw error
    }
    this.#savedChanges = changes
  }

  async #write(version: number | null): Promise<void> {
    const { files, rows, space } = this.#options
    const graph = this.#current.graph
    if (version === null || !graph || graph.labels.size === 0) {
      await files.remove(this.id)
      this.#fileBytes = 0
    } else {
      // A file that lacks some rows claims no version, so that the next start compares every row.
      const knowledgeVersion = this.#current.pending === 0 ? version : 0
      const generation = await rows.generation()
      const header = { generation, space, dimensions: graph.dimensions, knowledgeVersion }
      this.#fileBytes = await files.save(this.id, header, {
        write: (path) => this.#writeGraph(graph, path),
        isLive: (label) => graph.labels.has(label),
      })
    }
  }

  async #writeGraph(graph: Graph, path: string): Promise<void> {
    this.#isWriting = true
    try {
      await graph.write(path)
    } finally {
      this.#isWriting = false
      this.#options.onWork()
    }
  }

  #inBackground(work: Promise<unknown>): void {
    work.catch((error) => this.#log('error', 'An index could not be built', { error: String(error) }))
  }

  #log(...[level, message, fields]: Parameters<IndexLog>): void {
    this.#options.log(level, message, { projectId: this.id, ...fields })
  }
}
