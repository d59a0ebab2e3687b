import { AppError } from '../../errors.ts'
import type { Admission } from '../../http/admission.ts'
import { ignoredIn, isStrict } from '../../http/ignored-names.ts'
import { type BodyForm, parseBody, readParts } from '../../http/json-body.ts'
import { internal } from '../../http/problems.ts'
import { limits } from '../../limits.ts'
import { escapeLineEnds, isBlank, type Line, readLines } from '../../text/lines.ts'
import { CallLine, checkCallLine, idOfLine } from './call-line.ts'
import { checkId } from './ingest.ts'
import type { RequestIngest } from './request-ingest.ts'

/** The most lines of a request, including blank ones. */
const linesMax = limits.lines.most
/** The lines and bytes of one write: about as much as for concurrent requests. */
const sliceLinesMax = 100
const sliceBytesMax = 262_144
/** Enough for all answers with ids of usual length, since a client may send everything before it reads. */
const unreadBytesMax = 2_097_152

const ndjson: BodyForm = {
  type: 'application/x-ndjson',
  advice:
    'Send one call a line, as JSON in UTF-8, with Content-Type: application/x-ndjson; or one call by PUT /ingest/calls/:id.',
}

interface LinesOptions {
  ingest: Pick<RequestIngest, 'putAll'>
  admission: Admission
  /** The most bytes that the body may have. */
  bytesMax: number
  /** Called before lines are written, since a body may arrive for longer than its key is valid. */
  check: () => Promise<unknown>
  onUnexpected: (error: unknown) => void
}

interface Entry {
  /** The number of the line, from 1. */
  line: number
  /** The id that the answer has. */
  id: string | null
  /** The call, or why it cannot be written. */
  call: CallLine | AppError
  /** Unknown names in the line. */
  ignored: string[]
}

/**
 * Writes each line of the body as a call while the body arrives, and answers the lines in order. @throws
 * unsupported_media_type, payload_too_large
 */
export function answerLines(request: Request, projectId: number, options: LinesOptions): Response {
  const { admission, bytesMax } = options
  const parts = readParts(request, ndjson, { bytesMax, admission })
  // The answer ends with the last line, long after this returns.
  admission.enter()
  const answers = new LineAnswers({ ...options, request, projectId }).of(parts)
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await answers.next()
        if (isCancelled) return
        if (done) controller.close()
        else controller.enqueue(Buffer.from(value))
      },
      async cancel() {
        isCancelled = true
        await answers.return(undefined)
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: unreadBytesMax }),
  )
  // `no-transform`, because compression would delay the first answers.
  const headers = { 'Content-Type': ndjson.type, 'Cache-Control': 'no-store, no-transform' }
  return new Response(body, { headers })
}

class LineAnswers {
  readonly #options: LinesOptions & { request: Request; projectId: number }
  #readLines = 0
  #arrivedBytes = 0
  #writtenBytes = 0

  constructor(options: LinesOptions & { request: Request; projectId: number }) {
    this.#options = options
  }

  /** The answers to the lines of a body. Lines are written as soon as no more have arrived. */
  async *of(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
    const { request, admission, bytesMax } = this.#options
    let slice: Entry[] = []
    try {
      for await (const line of readLines(this.#countLines(parts), bytesMax)) {
        if (line.number > linesMax) throw tooManyLines()
        this.#readLines = line.number
        const entry = this.#read(line)
        if (entry) slice.push(entry)
        const isFull = slice.length >= sliceLinesMax || line.end - this.#writtenBytes >= sliceBytesMax
        if (!isFull && !line.isLastArrived) continue
        const entries = slice
        slice = []
        if (entries.length > 0) yield await this.#write(entries)
        this.#writtenBytes = line.end
      }
    } catch (error) {
      const line = this.#readLines + 1
      yield await this.#write([...slice, { line, id: null, call: this.#errorOf(error), ignored: [] }])
    } finally {
      admission.leave(request)
    }
  }

  async *#countLines(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const part of parts) {
      this.#arrivedBytes += part.length
      this.#options.admission.hold(this.#options.request, this.#arrivedBytes - this.#writtenBytes)
      yield part
    }
  }

  /** Null for a blank line. */
  #read({ number: line, bytes }: Line): Entry | null {
    // A line that is too long makes the body too large.
    if (bytes === null || isBlank(bytes)) return null
    let id: string | null = null
    try {
      const value = parseBody(bytes)
      id = idOfLine(value)
      const ignored = ignoredIn(CallLine, value, isStrict(this.#options.request))
      const call = checkCallLine(value)
      // Here too, since looking for a call by an id of many megabytes takes a second.
      checkId(call.id)
      return { line, id, call, ignored }
    } catch (error) {
      return { line, id, call: this.#errorOf(error), ignored: [] }
    }
  }

  async #write(entries: Entry[]): Promise<string> {
    const inputs = entries.flatMap(({ call }) =>
      call instanceof AppError ? [] : [{ id: call.id, change: call, isImport: true }],
    )
    const { projectId, check, ingest } = this.#options
    const outcomes = await check()
      .then(() => ingest.putAll(projectId, inputs))
      .catch((error) => inputs.map(() => this.#errorOf(error)))
    const next = outcomes.values()
    const answers = entries.map((entry) =>
      toLine(entry, entry.call instanceof AppError ? entry.call : next.next().value),
    )
    return answers.join('')
  }

  #errorOf(error: unknown): AppError {
    if (error instanceof AppError) return error
    this.#options.onUnexpected(error)
    return internal()
  }
}

/** The status that a single request would have, and for a refused line its number and its problem. */
function toLine({ line, id, ignored }: Entry, outcome: AppError | { isNew: boolean } | undefined): string {
  if (!outcome) throw new Error('Each line has its outcome')
  if (!(outcome instanceof AppError)) {
    const status = outcome.isNew ? 201 : 200
    return `${JSON.stringify({ id, status, ...(ignored.length > 0 && { ignored }) })}\n`
  }
  const { status, code, title, detail } = outcome
  return escapeLineEnds(`${JSON.stringify({ line, id, status, code, title, detail })}\n`)
}

function tooManyLines(): AppError {
  return new AppError('payload_too_large', 'Payload too large', {
    detail: `A request can have at most ${linesMax} lines. Send the lines after line ${linesMax} in another request.`,
  })
}
