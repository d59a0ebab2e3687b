import { Background } from '../../threads/background.ts'
import type { Hnswlib } from './addon.ts'
import type { ExactSearch } from './exact.ts'
import type { IndexFiles } from './files.ts'
import { Filling } from './filling.ts'
import { loadGraph } from './loading.ts'
import type { VectorRows } from './rows.ts'
import type { IndexLog, IndexState, VectorHit } from './vector-index.ts'

/** A graph of which more than this share is tombstones is built anew. */
const tombstoneShareMax = 0.25
/** Changes this close together are saved together. */
const saveDelayMs = 4_000
const saveRetryMs = 10_000
const saveRetryMsMax = 300_000

export interface ProjectIndexOptions {
  hnswlib: Hnswlib
  rows: VectorRows
  exactSearch: ExactSearch
  files: IndexFiles
  space: string
  /** Whether this process writes the file. */
  savesFiles(): boolean
  log: IndexLog
  /** There are vectors to be added: see `hasWork`. */
  onWork(): void
}

/** What changed while the rows were being read. */
interface Look {
  added: Set<number>
  removed: Set<number>
}

/** One project's index: a graph, the labels on their way into it, and the file it is saved in. */
export class ProjectIndex {
  readonly id: number
  readonly #options: ProjectIndexOptions
  readonly #saver: Background
  #current: Filling
  /** The graph that takes the current one's place when it is complete. */
  #next: Filling | null = null
  #loading: Promise<void> | null = null
  #isLoaded = false
  /** Until the graph has once held every row, the rows are searched. */
  #isComplete = false
  #rebuilding: Promise<void> | null = null
  /** While hnswlib's own thread reads the graph, nothing is added to it. */
  #isWriting = false
  /** Looks at the rows that are going on. */
  readonly #looks = new Set<Look>()
  /** The file may hold vectors whose rows are gone. */
  #hasUnsavedRemovals = false
  #changes = 0
  #savedChanges = 0
  #fileBytes = 0
  /** The knowledge version of the rows that the index equals, counting what is still to be added; null until loaded. */
  #equalVersion: number | null = null
  /** Later versions whose changes are here, before those of a version in between. */
  readonly #versionsAhead = new Set<number>()

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
    if (version !== null) this.#equals(version)
    if (this.#isWorn()) this.#rebuildInBackground()
    return this.state
  }

  /** Reconciles unless the index equals this version's rows, and scrubs when vectors are gone. */
  async follow(version: number): Promise<void> {
    if (this.#equalVersion !== null && this.#equalVersion >= version) return
    await this.reconcile()
    if (this.#hasUnsavedRemovals) await this.scrub()
  }

  /** Resolves when search returns these labels. @param version see VectorIndex */
  async add(labels: readonly number[], version?: number): Promise<void> {
    // Loading ends with a look at the rows, and until then they are what is searched.
    if (!this.#isLoaded) return this.#reconcileInBackground()
    for (const look of this.#looks) for (const label of labels) look.added.add(label)
    this.#enqueue(labels)
    this.#hasChangesOf(version)
    if (this.#isComplete) await this.#settled()
  }

  remove(labels: readonly number[], version?: number): void {
    for (const look of this.#looks) for (const label of labels) look.removed.add(label)
    if (!this.#isLoaded) return
    this.#current.remove(labels)
    this.#next?.remove(labels)
    this.#removed()
    this.#hasChangesOf(version)
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
    // A save that has begun meanwhile goes on with the work when it ends.
    if (this.#isWritten(filling)) return
    filling.add((label, reason) => this.#log('error', 'A vector cannot be indexed', { label, reason }))
    if (filling === this.#current) this.#changed()
  }

  async scrub(): Promise<void> {
    if (!this.#options.savesFiles()) return
    await this.#load()
    try {
      await this.#saver.now()
    } catch {
      // On a full disk, say: a file that cannot be replaced must go, and the rows have everything.
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
      // Nothing in memory yet: all there is to do is not to read the file.
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
      // It may hold vectors that are to be erased, and nothing will be read from it.
      if (savesFiles()) await files.remove(this.id)
    }
    if (graph) this.#current = new Filling(hnswlib, graph)
    this.#fileBytes = saved?.bytes ?? 0
    this.#equalVersion = saved?.knowledgeVersion ?? null
    this.#isLoaded = true
    if (!graph) this.#changed()
  }

  /**
   * Removes what has no row and enqueues what is not in the graph. What is added or removed while the rows are
   * being read is not judged by them.
   * @returns the knowledge version that the rows have at least
   */
  async #followRows(): Promise<number | null> {
    const { rows } = this.#options
    const version = await rows.knowledgeVersion(this.id)
    const look = { added: new Set<number>(), removed: new Set<number>() }
    this.#looks.add(look)
    try {
      return await this.#compare(version, look)
    } finally {
      this.#looks.delete(look)
    }
  }

  async #compare(version: number | null, { added, removed }: Look): Promise<number | null> {
    const { rows } = this.#options
    const held = (this.#current.graph?.labels.size ?? 0) + this.#current.pending
    if (version !== null && version === this.#equalVersion && (await rows.count(this.id)) === held)
      return version
    const inRows = new Set(await rows.labels(this.id))
    for (const label of added) inRows.add(label)
    for (const label of removed) inRows.delete(label)
    this.#next?.keepOnly(inRows)
    if (this.#current.keepOnly(inRows)) this.#removed()
    const missing = [...inRows].filter((label) => !this.#current.has(label))
    if (missing.length > 0) this.#enqueue(missing)
    return version
  }

  /** Index and rows are known to be equal at this version. */
  #equals(version: number): void {
    this.#equalVersion = Math.max(version, this.#equalVersion ?? 0)
    for (const ahead of this.#versionsAhead)
      if (ahead <= this.#equalVersion) this.#versionsAhead.delete(ahead)
    while (this.#versionsAhead.delete(this.#equalVersion + 1)) this.#equalVersion++
  }

  /** The change that made this version is in the index; an earlier one may still be missing. */
  #hasChangesOf(version: number | undefined): void {
    if (version === undefined || this.#equalVersion === null) return
    this.#versionsAhead.add(version)
    this.#equals(this.#equalVersion)
  }

  #removed(): void {
    this.#hasUnsavedRemovals = true
    this.#changed()
    if (this.#isWorn()) this.#rebuildInBackground()
  }

  #enqueue(labels: readonly number[]): void {
    this.#current.enqueue(labels)
    this.#next?.enqueue(labels)
    this.#changed()
    this.#options.onWork()
  }

  /** Resolves when all that is enqueued is in the graph, also when another graph takes its place meanwhile. */
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
    // What was enqueued meanwhile may be in the old graph already, and a save that is running reads that one.
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
      // A file that lacks some rows claims no version, so that the next start looks at every row.
      const knowledgeVersion = this.#current.pending === 0 ? version : 0
      const header = {
        generation: await rows.generation(),
        space,
        dimensions: graph.dimensions,
        knowledgeVersion,
      }
      this.#fileBytes = await files.save(this.id, header, {
        write: (path) => this.#whileNothingIsAdded(() => graph.write(path)),
        isLive: (label) => graph.labels.has(label),
      })
    }
  }

  async #whileNothingIsAdded(write: () => Promise<void>): Promise<void> {
    this.#isWriting = true
    try {
      await write()
    } finally {
      this.#isWriting = false
      this.#options.onWork()
    }
  }

  #reconcileInBackground(): void {
    this.reconcile().catch((error) =>
      this.#log('error', 'An index could not be reconciled', { error: String(error) }),
    )
  }

  #rebuildInBackground(): void {
    this.#rebuild().catch((error) =>
      this.#log('error', 'An index could not be rebuilt', { error: String(error) }),
    )
  }

  #log(...[level, message, fields]: Parameters<IndexLog>): void {
    this.#options.log(level, message, { projectId: this.id, ...fields })
  }
}
