import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '../../src/knowledge/chunking/chunk.ts'
import { NewItem } from '../../src/knowledge/schemas.ts'
import type { Services } from '../../src/services/services.ts'
import { compileCheck } from '../../src/validation.ts'
import { checkTags, type Document, findDocuments, readItem, withTags } from './documents.ts'
import { hasOwner } from './folder.ts'
import { type Progress, startProgress } from './progress.ts'
import { counted, sentenceOf, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

const progressEveryMs = 200
/** When nothing has been embedded for this long, the service embeds the rest. */
const stalledMsMax = 60_000

export interface ImportSummary {
  imported: number
  unchanged: number
  failed: number
  chunks: number
  /** Chunks of the project without a vector; the service embeds them. */
  pendingChunks: number
  seconds: number
  items: { id: string; name: string; path: string }[]
  errors: { path: string; message: string }[]
  /** What of the files' front matter was left out. */
  warnings: { path: string; message: string }[]
}

/** One run of `knowledge import`: stores the files, then embeds them. */
export class KnowledgeImport {
  readonly #services: Services
  readonly #shell: Shell
  readonly #projectId: number
  readonly #tags: readonly string[]
  readonly #check = compileCheck(NewItem)
  readonly #summary: ImportSummary = {
    imported: 0,
    unchanged: 0,
    failed: 0,
    chunks: 0,
    pendingChunks: 0,
    seconds: 0,
    items: [],
    errors: [],
    warnings: [],
  }

  /** @param tags of every file, beside those of its front matter */
  constructor(services: Services, shell: Shell, projectId: number, tags: readonly string[] = []) {
    checkTags(tags)
    this.#tags = tags
    this.#services = services
    this.#shell = shell
    this.#projectId = projectId
  }

  async run(paths: string[]): Promise<ImportSummary> {
    const startedAt = performance.now()
    await this.#storeAll(paths)
    // A running service embeds the new rows itself.
    if (!hasOwner(this.#services.config)) await this.#embed()
    this.#summary.pendingChunks = await this.#countPending()
    this.#summary.seconds = Math.round(performance.now() - startedAt) / 1000
    return this.#summary
  }

  async #storeAll(paths: string[]): Promise<void> {
    const { documents, errors } = await findDocuments(paths)
    const progress = startProgress(this.#shell, 'Importing', documents.length)
    try {
      for (const { path, error } of errors) this.#refuse(path, error, progress)
      const known = await this.#readKnown()
      for (const [position, document] of documents.entries()) {
        if (this.#shell.signal.aborted) return
        await this.#store(document, known).catch((error) => this.#refuse(document.path, error, progress))
        progress.update(position + 1, counted(position + 1, 'file'))
      }
    } finally {
      progress.stop()
    }
  }

  async #store(document: Document, known: Set<string>): Promise<void> {
    const file = await readItem(this.#services, document)
    const { tags = [], warnings } = withTags(file, this.#tags)
    for (const message of warnings) this.#summary.warnings.push({ path: document.path, message })
    const item = this.#check({ ...file, tags })
    if (known.has(contentKey(item.name, sha256(item.text), JSON.stringify(tags)))) {
      this.#summary.unchanged++
      return
    }
    const stored = await this.#services.knowledge.store(this.#projectId, item)
    this.#summary.imported++
    this.#summary.chunks += stored.labels.length
    this.#summary.items.push({ id: stored.item.id, name: stored.item.name, path: document.path })
  }

  async #readKnown(): Promise<Set<string>> {
    const contents = await this.#services.knowledge.contents(this.#projectId)
    return new Set(contents.map(({ name, textHash, tags }) => contentKey(name, textHash, tags)))
  }

  /** One attempt at everything that is pending. The service retries what fails. */
  async #embed(): Promise<void> {
    const { indexer } = this.#services
    const total = await this.#countPending()
    if (total === 0 || this.#shell.signal.aborted) return
    const progress = startProgress(this.#shell, 'Embedding', total)
    indexer.wake(this.#projectId)
    const idle = indexer.idle().then(() => true)
    let pending = total
    let changedAt = performance.now()
    try {
      while (!(await Promise.race([idle, sleep(progressEveryMs, false)]))) {
        const now = await this.#countPending()
        if (now !== pending) changedAt = performance.now()
        pending = now
        progress.update(total - pending, counted(total - pending, 'chunk'))
        if (this.#shell.signal.aborted || performance.now() - changedAt > stalledMsMax) return
      }
    } finally {
      progress.stop()
    }
  }

  async #countPending(): Promise<number> {
    return (await this.#services.knowledge.figures(this.#projectId)).pendingChunks
  }

  #refuse(path: string, error: unknown, progress: Progress): void {
    const message = sentenceOf(error).replace(`${shown(path)}: `, '')
    this.#summary.failed++
    this.#summary.errors.push({ path, message })
    progress.say(`${shown(path)}: ${message}`)
  }
}

/** @param tags as JSON */
function contentKey(name: string, textHash: string, tags: string): string {
  return `${textHash} ${tags} ${name}`
}
