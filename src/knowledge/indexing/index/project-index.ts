import { Background } from '../../../threads/background.ts'
import { Filling } from './filling.ts'
import type { Graph } from './graph.ts'
import { type LoadOptions, loadGraph } from './loading.ts'
import type { VectorHit } from './rows.ts'

/** A graph is rebuilt when tombstones are more than this share of it. */
const tombstoneShareMax = 0.25
/** Changes this close together are saved together. */
const saveDelayMs = 4_000
const saveRetryMs = 10_000
const saveRetryMsMax = 300_000

export type IndexLog = (
  level: 'info' | 'warn' | 'error',
  message: string,
  fields: Record<string, string | number>,
) => void

export interface IndexState {
  projectId: number
  /** Vectors that search returns from the index; 0 while the rows are searched instead. */
  vectors: number
  /** Removed vectors that the graph still holds. */
  tombstones: number
  /** The size of the project's file when this process last wrote or read it; 0 if there is none. */
  fileBytes: number
}

export interface VectorSearch {
  /** The only ones to find; all of the project by default. */
  labels?: readonly number[] | undefined
  /** A change of the project: the vectors that it brought are among those that are searched. */
  replacedSeq?: number | undefined
}

interface ProjectIndexOptions extends LoadOptions {
  savesFiles(): boolean
  log: IndexLog
  /** Called when there are vectors to add: see `hasWork`. */
  onWork(): void
  /** Called when a call or a save has ended: see `isAtRest`. */
  onRest(): void
}

/** Labels that are added or removed while the rows are read. */
type Changes = Record<'added' | 'removed', Set<number>>

/**
 * What the graph is to the rows:
 * - `unread`: its file has not been read
 * - `filling`: the file was read, or could not be used; rows are still missing, so search compares all rows
 * - `whole`: it has held every row; only the newest changes wait in the queue
 */
type Stage = 'unread' | 'filling' | 'whole'

/**
 * One project's index: a graph, the queue of labels to add to it, and the file that it is saved in. `reconcile` makes
 * it equal the rows, whatever its stage.
 */
export class ProjectIndex {
  readonly id: number
  readonly #options: ProjectIndexOptions
  readonly #saver: Background
  #stage: Stage = 'unread'
  #current: Filling
  /** Replaces the current graph once it is complete. */
  #next: Filling | null = null
  #opening: Promise<void> | null = null
  #rebuilding: Promise<void> | null = null
  /** hnswlib is writing this graph on a thread of its own, so nothing may be added to it. */
  #saving: Filling | null = null
  readonly #changesDuringReads = new Set<Changes>()
  /** Queued vectors count as added. */
  readonly #version = new FollowedVersion()
  /** The index has the chunks of every replacement up to this one. */
  #replacedSeq = 0
  /** What the file lacks. Without removals, it may hold vectors whose rows are deleted. */
  #unsaved: 'nothing' | 'additions' | 'removals' = 'nothing'
  #fileBytes = 0
  /** How many calls are under way. */
  #uses = 0

  constructor(id: number, options: ProjectIndexOptions) {
    this.id = id
    this.#options = options
    this.#current = new Filling(options.hnswlib)
    this.#saver = new Background({
      work: () => this.#save(),
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
      vectors: this.#stage === 'whole' ? (graph?.labels.size ?? 0) : 0,
      tombstones: graph?.tombstones ?? 0,
      fileBytes: this.#fileBytes,
    }
  }

  get isWhole(): boolean {
    return this.#stage === 'whole'
  }

  /** Returns about how much memory it takes. */
  get bytes(): number {
    return (this.#current.graph?.bytes ?? 0) + (this.#next?.graph?.bytes ?? 0)
  }

  /** Whether it can be freed: no call is under way, and nothing is unsaved. */
  get isAtRest(): boolean {
    const isSaved = this.#unsaved === 'nothing' || !this.#options.savesFiles()
    return isSaved && this.#uses === 0 && !this.#saver.isRunning && !this.#rebuilding && !this.hasWork
  }

  async reconcile(): Promise<IndexState> {
    return this.#during(async () => {
      await this.#open()
      const version = await this.#followRows()
      await this.#settled()
      this.#stage = 'whole'
      if (version !== null) this.#version.compared(version)
      if (this.#isWorn()) this.#inBackground(() => this.#rebuild())
      return this.state
    })
  }

  async follow(version: number): Promise<void> {
    if (this.#version.equal >= version) return
    await this.reconcile()
    if (this.#unsaved === 'removals') await this.eraseDeleted()
  }

  async add(labels: readonly number[], version?: number): Promise<void> {
    // Until the index is loaded and compared with the rows, search reads the rows.
    if (this.#stage === 'unread') return this.#inBackground(() => this.reconcile())
    for (const { added } of this.#changesDuringReads) for (const label of labels) added.add(label)
    this.#enqueue(labels)
    if (version !== undefined) this.#version.changed(version)
    if (this.isWhole) await this.#during(() => this.#settled())
  }

  remove(labels: readonly number[], version?: number): void {
    for (const { removed } of this.#changesDuringReads) for (const label of labels) removed.add(label)
    if (this.#stage === 'unread') return
    this.#current.remove(labels)
    this.#next?.remove(labels)
    this.#removed()
    if (version !== undefined) this.#version.changed(version)
  }

  async search(
    query: Float32Array,
    limit: number,
    { labels, replacedSeq = 0 }: VectorSearch = {},
  ): Promise<VectorHit[]> {
    return this.#during(async () => {
      const exact = (only = labels) => this.#options.rows.nearest(this.id, query, limit, only)
      await this.#open()
      if (this.#stage === 'filling' && this.#current.isSearchable) this.#stage = 'whole'
      if (!this.isWhole) return exact()
      if (this.#replacedSeq < replacedSeq) {
        await this.#followRows()
        this.#replacedSeq = replacedSeq
      }
      return (await this.#current.search(query, limit, exact, labels && new Set(labels))) ?? exact()
    })
  }

  get hasWork(): boolean {
    return this.#workable() !== null
  }

  /** Adds one slice of the queue. */
  async work(): Promise<void> {
    const filling = this.#workable()
    if (!filling) return
    await filling.read((labels) => this.#options.rows.vectors(this.id, labels))
    // A save has started meanwhile. It calls `onWork` when it ends.
    if (filling === this.#saving) return
    filling.add((label, reason) => this.#log('error', 'A vector cannot be indexed', { label, reason }))
    if (filling === this.#current) this.#changed()
  }

  async eraseDeleted(): Promise<void> {
    if (!this.#options.savesFiles()) return
    await this.#during(async () => {
      await this.#open()
      try {
        await this.#saver.now()
      } catch {
        // If the file cannot be replaced, as on a full disk, it is deleted. Nothing is lost: the rows have everything.
        await this.#removeFile()
        this.#changed()
      }
    })
  }

  saveSoon(): void {
    if (this.#stage !== 'unread') this.#changed()
  }

  async rebuild(): Promise<void> {
    await this.#during(async () => {
      // If nothing is in memory yet, it is enough not to read the file.
      if (this.#stage === 'unread') {
        this.#stage = 'filling'
        this.#changed()
        await this.reconcile()
      } else await this.#rebuild()
      if (this.#options.savesFiles()) await this.#saver.now()
    })
  }

  async drop(): Promise<void> {
    await this.#saver.close()
    this.free()
    if (this.#options.savesFiles()) await this.#removeFile()
  }

  async close(): Promise<void> {
    await this.#saver.close()
    // hnswlib must not be reading on its own thread when this one ends.
    await this.#opening?.catch(() => undefined)
    if (this.#options.savesFiles() && this.#unsaved !== 'nothing') await this.#save()
  }

  /** Frees the memory. Call it when the index is at rest, and use the index no more. */
  free(): void {
    this.#current.free()
    this.#next?.free()
  }

  /** Counts as a use while the work runs. */
  async #during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#uses++
    try {
      return await work()
    } finally {
      this.#uses--
      this.#options.onRest()
    }
  }

  /** Reads the file and compares it with the rows, once. */
  #open(): Promise<void> {
    this.#opening ??= this.#loadFile()
      .then(() => this.#followRows())
      .then((version) => this.#version.compared(version ?? 0))
      .catch((error) => {
        this.#opening = null
        throw error
      })
    return this.#opening
  }

  async #loadFile(): Promise<void> {
    if (this.#stage !== 'unread') return
    const { graph, saved, problem } = await loadGraph(this.id, this.#options)
    // A rebuild has begun meanwhile.
    if (this.#stage !== 'unread') return graph?.free()
    if (problem !== null) {
      this.#log('warn', 'An index file cannot be used and is being rebuilt from the rows', { problem })
      // The file is no longer needed, and may hold vectors that must be erased.
      if (this.#options.savesFiles()) await this.#removeFile()
    }
    if (graph) this.#current = new Filling(this.#options.hnswlib, graph)
    this.#fileBytes = saved?.bytes ?? 0
    this.#version.compared(saved?.knowledgeVersion ?? 0)
    this.#stage = 'filling'
    if (!graph) this.#changed()
  }

  /**
   * Removes labels without a row and enqueues rows that the graph lacks. Changes that arrive while the rows are read
   * are kept.
   * @returns the version of the rows, or an earlier one; null if the project is deleted
   */
  async #followRows(): Promise<number | null> {
    const changes = { added: new Set<number>(), removed: new Set<number>() }
    this.#changesDuringReads.add(changes)
    try {
      return await this.#compare(changes)
    } finally {
      this.#changesDuringReads.delete(changes)
    }
  }

  async #compare({ added, removed }: Changes): Promise<number | null> {
    const { rows } = this.#options
    const summary = await rows.summary(this.id)
    const vectorCount = (this.#current.graph?.labels.size ?? 0) + this.#current.pending
    if (summary?.version === this.#version.equal && summary.vectors === vectorCount) return summary.version
    const inRows = new Set(await rows.labels(this.id))
    for (const label of added) inRows.add(label)
    for (const label of removed) inRows.delete(label)
    this.#next?.keepOnly(inRows)
    if (this.#current.keepOnly(inRows)) {
      this.#removed()
      // Nobody else asks for the erasure of what another machine has deleted.
      if (this.#options.savesFiles()) this.#saver.soon(0)
    }
    const missing = [...inRows].filter((label) => !this.#current.has(label))
    if (missing.length > 0) this.#enqueue(missing)
    return summary?.version ?? null
  }

  #removed(): void {
    this.#changed('removals')
    if (this.#isWorn()) this.#inBackground(() => this.#rebuild())
  }

  #enqueue(labels: readonly number[]): void {
    this.#current.enqueue(labels)
    this.#next?.enqueue(labels)
    this.#changed()
    this.#options.onWork()
  }

  /** Resolves when the queue is in the graph, even if another graph replaces this one meanwhile. */
  async #settled(): Promise<void> {
    let filling: Filling
    do {
      filling = this.#current
      await filling.settled()
    } while (filling !== this.#current)
  }

  #workable(): Filling | null {
    const fillings = [this.#current, this.#next]
    return fillings.find((filling) => filling && filling !== this.#saving && filling.pending > 0) ?? null
  }

  #isWorn(): boolean {
    const graph = this.#current.graph
    if (!graph || !this.isWhole) return false
    return graph.tombstones > (graph.labels.size + graph.tombstones) * tombstoneShareMax
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

  #changed(change: 'additions' | 'removals' = 'additions'): void {
    if (this.#unsaved !== 'removals') this.#unsaved = change
    if (this.#options.savesFiles()) this.#saver.soon()
  }

  async #save(): Promise<void> {
    await this.#during(() => this.#saveChanges())
  }

  async #saveChanges(): Promise<void> {
    const version = await this.#followRows()
    const unsaved = this.#unsaved
    if (unsaved === 'nothing') return
    this.#unsaved = 'nothing'
    try {
      await this.#write(version)
    } catch (error) {
      this.#changed(unsaved)
      throw error
    }
  }

  async #write(version: number | null): Promise<void> {
    const { files, rows } = this.#options
    const filling = this.#current
    const { graph, pending } = filling
    if (version === null || !graph || graph.labels.size === 0) return this.#removeFile()
    // A file that lacks some rows gets version 0, so that the next start compares every row.
    const knowledgeVersion = pending === 0 ? version : 0
    const header = { ...(await rows.header(this.id)), dimensions: graph.dimensions, knowledgeVersion }
    this.#fileBytes = await files.save(this.id, header, {
      write: (path) => this.#writeGraph(filling, graph, path),
      isLive: (label) => graph.labels.has(label),
    })
  }

  async #removeFile(): Promise<void> {
    await this.#options.files.delete(this.id)
    this.#fileBytes = 0
  }

  async #writeGraph(filling: Filling, graph: Graph, path: string): Promise<void> {
    this.#saving = filling
    try {
      await graph.write(path)
    } finally {
      this.#saving = null
      this.#options.onWork()
    }
  }

  #inBackground(work: () => Promise<unknown>): void {
    work().catch((error) => this.#log('error', 'An index could not be built', { error: String(error) }))
  }

  #log(...[level, message, fields]: Parameters<IndexLog>): void {
    this.#options.log(level, message, { projectId: this.id, ...fields })
  }
}

/** The knowledge version that an index has reached. Changes may arrive in any order. */
class FollowedVersion {
  /** 0 until the index is compared with the rows. */
  #equal = 0
  /** Later versions whose changes arrived before those of a version in between. */
  readonly #ahead = new Set<number>()

  get equal(): number {
    return this.#equal
  }

  /** Call it when the index equals the rows of this version. */
  compared(version: number): void {
    this.#equal = Math.max(version, this.#equal)
    for (const ahead of this.#ahead) if (ahead <= this.#equal) this.#ahead.delete(ahead)
    while (this.#ahead.delete(this.#equal + 1)) this.#equal++
  }

  /** Call it when the index has the change that made this version. */
  changed(version: number): void {
    this.#ahead.add(version)
    this.compared(this.#equal)
  }
}
