import { type MultipartError, make } from 'multipasta'
import { AppError, invalidRequest } from '../../errors.ts'
import { limits } from '../../limits.ts'

/** A part of a form: whole, or as it arrives. */
export type FormPart = { name: string } & ({ value: Uint8Array } | { chunks: AsyncIterable<Uint8Array> })

type FormEvent = { kind: 'begin'; name: string } | { kind: 'chunk'; chunk: Uint8Array } | { kind: 'end' }

interface FormOptions {
  /** The Content-Type, which names the boundary. */
  type: string
  /** The name of the part that is handed on as it arrives. */
  streamed: string
  /** The most bytes of each part that is read whole. Other parts are skipped. */
  wholeBytesMax: Readonly<Record<string, number>>
  /** Counts what has arrived of the part that is read. @throws unavailable */
  hold(bytes: number): void
}

/**
 * Reads multipart/form-data (RFC 7578) as it arrives. What is not read of the streamed part is skipped.
 * @throws invalid_request, payload_too_large, unavailable
 */
export async function* formParts(
  arriving: AsyncIterable<Uint8Array>,
  { type, streamed, wholeBytesMax, hold }: FormOptions,
): AsyncGenerator<FormPart> {
  const names = new Set<string>()
  const events = eventsIn(arriving, type)
  for await (const event of events) {
    if (event.kind !== 'begin') continue
    const { name } = event
    const bytesMax = Object.hasOwn(wholeBytesMax, name) ? wholeBytesMax[name] : undefined
    if (bytesMax === undefined && name !== streamed) continue
    if (names.has(name)) throw invalidRequest([{ field: name, message: 'must be one part' }])
    names.add(name)
    const chunks = chunksOf(events, hold)
    if (bytesMax === undefined) yield { name, chunks }
    else yield { name, value: await wholeOf(chunks, { name, bytesMax, hold }) }
    hold(0)
  }
}

/** The chunks of the part that has begun. When the first is asked for, what came before is dealt with. */
async function* chunksOf(
  events: AsyncGenerator<FormEvent, void>,
  hold: FormOptions['hold'],
): AsyncGenerator<Uint8Array> {
  hold(0)
  for (;;) {
    const { value: event } = await events.next()
    if (event?.kind !== 'chunk') return
    yield event.chunk
  }
}

async function wholeOf(
  chunks: AsyncIterable<Uint8Array>,
  { name, bytesMax, hold }: Pick<FormOptions, 'hold'> & { name: string; bytesMax: number },
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw tooLarge(`The part ${name} has at most ${bytesMax} bytes.`)
    hold(bytes)
    pieces.push(chunk)
  }
  return Buffer.concat(pieces)
}

async function* eventsIn(arriving: AsyncIterable<Uint8Array>, type: string): AsyncGenerator<FormEvent, void> {
  const events: FormEvent[] = []
  let isComplete = false
  const parser = make({
    headers: { 'content-type': type },
    isFile: () => true,
    maxParts: limits.parts.most,
    onField: () => undefined,
    onFile({ name }) {
      events.push({ kind: 'begin', name })
      return (chunk) => events.push(chunk ? { kind: 'chunk', chunk } : { kind: 'end' })
    },
    onError(error) {
      throw problemOf(error)
    },
    onDone() {
      isComplete = true
    },
  })
  for await (const bytes of arriving) {
    parser.write(bytes)
    yield* events.splice(0)
  }
  if (!isComplete) throw problemOf({ _tag: 'EndNotReached' })
}

function problemOf(error: MultipartError): AppError {
  if (error._tag === 'ReachedLimit') return tooLarge(`The body has more than ${limits.parts.most} parts.`)
  return invalidRequest([{ field: 'body', message: 'must be a complete multipart/form-data' }])
}

function tooLarge(detail: string): AppError {
  return new AppError('payload_too_large', 'Payload too large', { detail })
}
