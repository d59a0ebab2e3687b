import { open } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import type { CallChange } from '../../src/calls/schemas.ts'
import { idOfLine, readExportedLine } from '../../src/calls/writing/call-line.ts'
import type { OwnDetails } from '../../src/calls/writing/merge-details.ts'
import { AppError, invalidRequest } from '../../src/errors.ts'
import { parseJson } from '../../src/http/json-body.ts'
import type { Services } from '../../src/services/services.ts'
import { isBlank, type Line, readLines } from '../../src/text/lines.ts'
import { startProgress } from './progress.ts'
import { counted, sentenceOf, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

const batchCallsMax = 500
const batchBytesMax = 8 * 1024 * 1024
/** Bad lines listed in the answer; stderr has every one. */
const errorsListedMax = 1_000
/** An exported call is longer than the body that it came in: it has every field, with numbers written out. */
const lineBytesPerBodyByte = 2

export interface ImportSummary {
  imported: number
  updated: number
  failed: number
  seconds: number
  errors: LineError[]
}

interface LineError {
  line: number
  id: string | null
  message: string
}

interface BatchEntry {
  id: string
  change: CallChange
  own?: OwnDetails
  isImport: true
  line: number
}

/** One run of `calls import`: reads and checks lines while the previous ones are being written. */
export class CallsImport {
  readonly #services: Services
  readonly #shell: Shell
  readonly #projectId: number
  readonly #summary: ImportSummary = { imported: 0, updated: 0, failed: 0, seconds: 0, errors: [] }
  #progress: { say(line: string): void } = { say: () => undefined }

  constructor(services: Services, shell: Shell, projectId: number) {
    this.#services = services
    this.#shell = shell
    this.#projectId = projectId
  }

  async run(file: string): Promise<ImportSummary> {
    const startedAt = performance.now()
    const { source, bytes } = await openSource(file, this.#shell)
    const progress = startProgress(this.#shell, 'Importing', bytes)
    this.#progress = progress
    try {
      await this.#readAll(source, (read) => progress.update(read, this.#done()))
    } finally {
      progress.stop()
    }
    this.#summary.seconds = Math.round(performance.now() - startedAt) / 1000
    this.#summary.errors.sort((a, b) => a.line - b.line)
    return this.#summary
  }

  async #readAll(source: AsyncIterable<Uint8Array>, onRead: (bytes: number) => void): Promise<void> {
    const lineBytesMax = this.#services.config.bodyBytesMax * lineBytesPerBodyByte
    let writing = Promise.resolve()
    let batch: BatchEntry[] = []
    let batchBytes = 0
    try {
      for await (const line of readLines(source, lineBytesMax)) {
        const entry = this.#read(line, lineBytesMax)
        if (entry) batch.push(entry)
        batchBytes += line.bytes?.length ?? 0
        if (batch.length < batchCallsMax && batchBytes < batchBytesMax) continue
        await writing
        onRead(line.end)
        writing = this.#write(batch)
        // The failure is handled where it is awaited, perhaps much later.
        writing.catch(() => undefined)
        batch = []
        batchBytes = 0
      }
    } catch (error) {
      await writing
      if (!this.#shell.signal.aborted) throw error
      return
    }
    await writing
    await this.#write(batch)
  }

  #read(line: Line, bytesMax: number): BatchEntry | null {
    if (line.bytes && isBlank(line.bytes)) return null
    let id: string | null = null
    try {
      if (!line.bytes) throw tooLong(bytesMax)
      const value = parseJson(line.bytes)
      id = idOfLine(value)
      const { change, own } = readExportedLine(value)
      return { id: change.id, change, own, isImport: true, line: line.number }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#refuse(line.number, id, error)
      return null
    }
  }

  async #write(batch: BatchEntry[]): Promise<void> {
    const first = batch[0]
    if (!first) return
    const results = await this.#services.ingest.putAll(this.#projectId, batch).catch((error) => {
      const again = 'Run the import again: calls that are already stored stay as they are.'
      throw new Error(`Nothing from line ${first.line} on was imported: ${sentenceOf(error)} ${again}`)
    })
    for (const [position, result] of results.entries()) {
      const entry = batch[position]
      if (result instanceof AppError) this.#refuse(entry?.line ?? 0, entry?.id ?? null, result)
      else if (result.isNew) this.#summary.imported++
      else this.#summary.updated++
    }
  }

  #refuse(line: number, id: string | null, error: AppError): void {
    const message = sentenceOf(error)
    this.#summary.failed++
    if (this.#summary.errors.length < errorsListedMax) this.#summary.errors.push({ line, id, message })
    this.#progress.say(`Line ${line}${id === null ? '' : ` (${shown(id)})`}: ${message}`)
  }

  #done(): string {
    const { imported, updated } = this.#summary
    return counted(imported + updated, 'call')
  }
}

/** @returns also its size in bytes, 0 when unknown */
async function openSource(
  file: string,
  { signal, streams }: Pick<Shell, 'signal' | 'streams'>,
): Promise<{ source: Readable; bytes: number }> {
  if (file === '-') return { source: addAbortSignal(signal, streams.stdin), bytes: 0 }
  const handle = await open(file, 'r')
  const info = await handle.stat()
  if (info.isDirectory()) {
    await handle.close()
    throw new Error(`${shown(file)}: it is a folder`)
  }
  return { source: handle.createReadStream({ signal, highWaterMark: 1024 * 1024 }), bytes: info.size }
}

function tooLong(bytesMax: number): AppError {
  return invalidRequest([
    { field: 'body', message: `must be at most ${bytesMax} bytes (twice BODY_MAX_BYTES)` },
  ])
}
