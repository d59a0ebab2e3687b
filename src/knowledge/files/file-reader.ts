import { bulkhead } from 'cockatiel'
import { AppError, invalidRequest, unavailable } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { Thread } from '../../threads/thread.ts'
import {
  type FileKind,
  type FileRefusal,
  type FileText,
  fileKind,
  type RefusalCode,
  unreadable,
} from './file-text.ts'
import type { FileApi, FormFile } from './file-worker.ts'
import type { FileContent } from './read-file.ts'

/** Shorter texts are read on the main thread: sending them to another would take longer. */
const inlineBytesMax = 8_192
/** On a busy machine the thread, which has a low priority, may wait this many times as long for the processor. */
const waitingFactorMax = 6
const guardEveryMs = 10
const filesWaitingMax = 8
const idleMs = 60_000

const limitsDefault = {
  readWithinMs: limits.fileTime.most,
  /** An ordinary page of a megabyte takes one or two seconds. */
  htmlWithinMs: 3_000,
  /** How much memory reading a file may add to the process. */
  memoryBytesMax: limits.fileMemory.most,
}

/**
 * Reads files as items in a worker thread, one at a time. A file that takes too much time or memory is refused, and the
 * thread is replaced. Of the files that wait, each project has one at most, so that none holds up the others for long.
 */
export class FileReader {
  readonly #thread = new Thread<FileApi, null, FileKind | null>({
    script: new URL('./file-worker.ts', import.meta.url),
    name: 'The file reader',
    data: () => null,
    idleMs,
    onEvent: (kind) => {
      this.#kind = kind
    },
  })
  /** The kind of the file that is being read; null until its form is parsed. */
  #kind: FileKind | null = null
  readonly #waiting = new Set<number>()
  readonly #slots = bulkhead(1, filesWaitingMax)
  readonly #limits: Record<keyof typeof limitsDefault, number>

  constructor(limits: Partial<Record<keyof typeof limitsDefault, number>> = {}) {
    this.#limits = { ...limitsDefault, ...limits }
  }

  /** @throws file_cannot_be_read, unsupported_media_type, payload_too_large, unavailable */
  async read(file: FileContent): Promise<FileText> {
    const { byteLength } = file.bytes
    if (byteLength > limits.file.most) throw fileTooLarge()
    const isShortText = fileKind(file.name) === 'text' && byteLength <= inlineBytesMax
    if (!isShortText) return await answerOf(this.#queued(() => this.#thread.ask('readFile', file)))
    const { readFile } = await import('./read-file.ts')
    return await answerOf(readFile(file))
  }

  /** Reads the parts `file` and `tags` of a form. @throws as `read`, and invalid_request */
  async readForm(projectId: number, type: string, body: Uint8Array): Promise<FormFile> {
    return await answerOf(this.#queued(() => this.#thread.ask('readForm', type, body), projectId))
  }

  /** Whether the next file would be refused. */
  get isFull(): boolean {
    return this.#slots.executionSlots + this.#slots.queueSlots === 0
  }

  async close(): Promise<void> {
    this.#thread.terminate(new Error('The file reader is closed'))
    await this.#thread.close()
  }

  /** @param projectId undefined for the command line, which reads one file after the other */
  async #queued<Value>(read: () => Promise<Value>, projectId?: number): Promise<Value> {
    if (this.isFull || (projectId !== undefined && this.#waiting.has(projectId))) throw tooManyFiles()
    if (projectId !== undefined) this.#waiting.add(projectId)
    return await this.#slots.execute(() => {
      if (projectId !== undefined) this.#waiting.delete(projectId)
      return this.#guarded(read)
    })
  }

  /** Ends the thread if it exceeds the time or memory limit. */
  async #guarded<Value>(read: () => Promise<Value>): Promise<Value> {
    const { readWithinMs, htmlWithinMs, memoryBytesMax } = this.#limits
    const startedAt = performance.now()
    const cpuMsBefore = cpuMs()
    const memoryBytes = process.memoryUsage.rss()
    this.#kind = null
    const guard = setInterval(() => {
      const withinMs = this.#kind === 'html' ? htmlWithinMs : readWithinMs
      const tookMs = performance.now() - startedAt
      // The thread has worked at most as long as the process.
      const workedMs = Math.min(cpuMs() - cpuMsBefore, tookMs)
      if (workedMs > withinMs || tookMs > withinMs * waitingFactorMax)
        this.#thread.terminate(unreadable(`Reading the file takes longer than ${withinMs / 1_000} seconds.`))
      else if (process.memoryUsage.rss() - memoryBytes > memoryBytesMax)
        this.#thread.terminate(unreadable('Reading the file takes too much memory.'))
    }, guardEveryMs)
    try {
      return await read()
    } finally {
      clearInterval(guard)
    }
  }
}

/** The processor time of this process. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Turns refusals into answers. A refusal from the thread arrives as a code and a message. */
async function answerOf<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading
  } catch (error) {
    const { code, message } = error as Partial<FileRefusal>
    const answer = code && Object.hasOwn(answers, code) ? answers[code] : undefined
    throw answer ? answer(message ?? '') : error
  }
}

const answers: Record<RefusalCode, (message: string) => AppError> = {
  bad_form: (message) => invalidRequest([{ field: 'file', message }]),
  too_large: fileTooLarge,
  unknown_type: (detail) => new AppError('unsupported_media_type', 'Unsupported media type', { detail }),
  unreadable: (detail) => new AppError('file_cannot_be_read', 'File cannot be read', { detail }),
}

function fileTooLarge(): AppError {
  return new AppError('payload_too_large', 'Payload too large', {
    detail: `The file has more than ${limits.file.most} bytes, the most that is accepted.`,
  })
}

export function tooManyFiles(): AppError {
  return unavailable('Other files are waiting to be read. Send this one again when they are done.', 2)
}
