import { createHash } from 'node:crypto'
import { basename, join, resolve } from 'node:path'
import { sha256 } from '../../src/knowledge/chunking/chunk.ts'
import type { FileQuestions } from '../../src/knowledge/questions/golden-questions.ts'
import { NewItem } from '../../src/knowledge/schemas.ts'
import type { Services } from '../../src/services/services.ts'
import { compileCheck } from '../../src/validation.ts'
import {
  type Choice,
  checkTags,
  type Document,
  findInFolder,
  leftOut,
  pathIn,
  readItem,
  type Skipped,
  withTags,
} from './documents.ts'
import { type Progress, startProgress } from './progress.ts'
import { counted, sentenceOf, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

const filesAtOnce = 8
/** Begins the ids of all items that a sync makes. */
const syncPrefix = 'sync.'
const readableCharsMax = 40
const digestChars = 16

export interface SyncSummary {
  set: string
  created: number
  changed: number
  unchanged: number
  deleted: number
  failed: number
  /** Items with the text of a file that no sync has made: search finds these texts twice. */
  imported: { id: string; name: string }[]
  /** Chunks of the project without a vector; the service embeds them. */
  pendingChunks: number
  seconds: number
  /** Files and folders that were passed over. */
  skipped: Skipped[]
  errors: { path: string; message: string }[]
  /** What of the files' front matter was left out. */
  warnings: { path: string; message: string }[]
}

interface KnowledgeSyncOptions {
  services: Services
  shell: Shell
  projectId: number
  folder: string
  /** The name of the set; by default that of the folder. */
  name?: string | undefined
  /** Whether to delete the set's items whose files are gone. */
  prune: boolean
  /** Whether that may be more than half of the set. */
  yes: boolean
  /** Whether to delete items with the text of a file that no sync has made. */
  replaceImported: boolean
  choice: Choice
  /** Tags of every file, beside those of its front matter. */
  tags: readonly string[]
}

/** One run of `knowledge sync`: makes the items of a set equal the files of a folder. */
export class KnowledgeSync {
  readonly #options: KnowledgeSyncOptions
  readonly #check = compileCheck(NewItem)
  readonly #summary: SyncSummary
  readonly #textHashes = new Set<string>()
  readonly #questions: FileQuestions[] = []

  constructor(options: KnowledgeSyncOptions) {
    this.#options = options
    const set = options.name ?? basename(resolve(options.folder))
    const counts = {
      created: 0,
      changed: 0,
      unchanged: 0,
      deleted: 0,
      failed: 0,
      pendingChunks: 0,
      seconds: 0,
    }
    this.#summary = { set, ...counts, imported: [], skipped: [], errors: [], warnings: [] }
  }

  async run(): Promise<SyncSummary> {
    const { services, shell, projectId, folder, choice, prune } = this.#options
    const startedAt = performance.now()
    checkTags(this.#options.tags)
    if (this.#summary.set.trim() === '') throw new Error('The set has no name. Give it one with --name.')
    const { documents, skipped, errors } = await findInFolder(folder, choice)
    this.#summary.skipped = skipped
    const progress = startProgress(shell, 'Syncing', documents.length)
    try {
      for (const { path, error } of errors) this.#refuse(path, error, progress)
      await this.#putAll(documents, progress)
      // A file that could not be listed may still exist.
      if (prune && errors.length > 0)
        shell.complain('Nothing was deleted, because not every file could be listed.')
      else if (prune) await this.#prune([...documents, ...skipped.filter(({ reason }) => reason === leftOut)])
      if (!shell.signal.aborted) await this.#keepQuestions(skipped, errors.length > 0)
      await this.#findImported()
    } finally {
      progress.stop()
    }
    this.#summary.pendingChunks = (await services.knowledge.figures(projectId)).pendingChunks
    this.#summary.seconds = Math.round(performance.now() - startedAt) / 1000
    return this.#summary
  }

  async #putAll(documents: readonly Document[], progress: Progress): Promise<void> {
    const left = [...documents]
    const putSome = async () => {
      for (let next = left.shift(); next && !this.#options.shell.signal.aborted; next = left.shift()) {
        const { path } = next
        await this.#put(next).catch((error) => this.#refuse(path, error, progress))
        const done = documents.length - left.length
        progress.update(done, counted(done, 'file'))
      }
    }
    await Promise.all(Array.from({ length: filesAtOnce }, putSome))
  }

  async #put(document: Document): Promise<void> {
    const { services, projectId } = this.#options
    const file = await readItem(services, document)
    const { tags, warnings } = withTags(file, this.#options.tags)
    const item = this.#check({ ...file, tags })
    const [id, path] = [this.#idOf(document), this.#pathOf(document)]
    const { outcome } = await services.itemChanges.putKeepingTags(projectId, id, item)
    this.#summary[outcome]++
    this.#textHashes.add(sha256(item.text))
    this.#questions.push({ path, itemId: id, questions: file.questions })
    for (const message of warnings) this.#summary.warnings.push({ path: document.path, message })
  }

  /** Questions in front matter follow their files: those of a file that is gone, or that lost them, go. */
  async #keepQuestions(skipped: readonly Skipped[], isIncomplete: boolean): Promise<void> {
    const { services, projectId } = this.#options
    const unread = new Set([...skipped, ...this.#summary.errors].map((document) => this.#pathOf(document)))
    const warnings = await services.golden.keepOfFiles(projectId, {
      prefix: prefixOf(this.#summary.set),
      files: this.#questions,
      isThere: (path) => isIncomplete || unread.has(path),
    })
    for (const { path, message } of warnings)
      this.#summary.warnings.push({ path: join(this.#options.folder, path), message })
  }

  /** Finds what `knowledge import`, or a request, has made of the same texts. */
  async #findImported(): Promise<void> {
    const { services, shell, projectId, replaceImported } = this.#options
    for (const { id, name, textHash } of await services.knowledge.contents(projectId)) {
      if (id.startsWith(syncPrefix) || !this.#textHashes.has(textHash) || shell.signal.aborted) continue
      this.#summary.imported.push({ id, name })
      if (!replaceImported) continue
      await services.knowledge.delete(projectId, id)
      this.#summary.deleted++
    }
  }

  /** Deletes items whose files are gone. Only ids from a sync of this set have its prefix. */
  async #prune(there: readonly Pick<Document, 'path'>[]): Promise<void> {
    const { services, shell, projectId, yes } = this.#options
    const kept = new Set(there.map((document) => this.#idOf(document)))
    const prefix = prefixOf(this.#summary.set)
    const all = (await services.knowledge.heads(projectId)).filter(({ id }) => id.startsWith(prefix))
    const gone = all.filter(({ id }) => !kept.has(id))
    const before = all.length - this.#summary.created
    if (gone.length > before / 2 && !yes) {
      const most = `${gone.length} of ${counted(before, 'item')}`
      return shell.complain(
        `Nothing was deleted, because ${most} would be. If the files are gone on purpose, confirm it with --yes.`,
      )
    }
    for (const { id } of gone) {
      if (shell.signal.aborted) return
      await services.knowledge.delete(projectId, id)
      this.#summary.deleted++
    }
  }

  #idOf({ path }: Pick<Document, 'path'>): string {
    return itemIdOf(this.#summary.set, this.#pathOf({ path }))
  }

  #pathOf({ path }: Pick<Document, 'path'>): string {
    return pathIn(this.#options.folder, path)
  }

  #refuse(path: string, error: unknown, progress: Progress): void {
    const message = sentenceOf(error).replace(`${shown(path)}: `, '')
    this.#summary.failed++
    this.#summary.errors.push({ path, message })
    progress.say(`${shown(path)}: ${message}`)
  }
}

/** `sync.docs.<digest>.guide-refunds.md.<digest>`: people recognise the names, and the digests keep ids apart. */
export function itemIdOf(set: string, path: string): string {
  return `${prefixOf(set)}${readable(path)}.${digest(path)}`
}

function prefixOf(set: string): string {
  return `${syncPrefix}${readable(set)}.${digest(set)}.`
}

function readable(text: string): string {
  return plain(text)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(-readableCharsMax)
}

function digest(text: string): string {
  return createHash('sha256').update(plain(text)).digest('hex').slice(0, digestChars)
}

/** Normalised, because file systems differ in how they store accents. */
function plain(text: string): string {
  return text.toWellFormed().normalize('NFC')
}
