import { type MultipartError, make } from 'multipasta'
import { AppError, invalidRequest } from '../../errors.ts'

/** A part of a form: whole, or as it arrives. */
export type FormPart = { name: string } & ({ value: Uint8Array } | { chunks: AsyncIterable<Uint8Array> })

type FormEvent =
  | { kind: 'part'; name: string; value: Uint8Array }
  | { kind: 'begin'; name: string }
  | { kind: 'chunk'; chunk: Uint8Array }
  | { kind: 'end' }

interface FormOptions {
  /** The Content-Type, which names the boundary. */
  type: string
  /** The name of the part that is handed on as it arrives. */
  streamed: string
  /** The most bytes that any other part may have. */
  partBytesMax: number
}

/**
 * Reads multipart/form-data (RFC 7578) as it arrives. What is not read of the streamed part is skipped.
 * @throws invalid_request, payload_too_large
 */
export async function* formParts(
  arriving: AsyncIterable<Uint8Array>,
  options: FormOptions,
): AsyncGenerator<FormPart> {
  const events = eventsIn(arriving, options)
  for await (const event of events) {
    if (event.kind === 'part') yield event
    else if (event.kind === 'begin') yield { name: event.name, chunks: chunksOf(events) }
  }
}

/** The chunks of the part that has begun. */
async function* chunksOf(events: AsyncGenerator<FormEvent, void>): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { value: event } = await events.next()
    if (event?.kind !== 'chunk') return
    yield event.chunk
  }
}

async function* eventsIn(
  arriving: AsyncIterable<Uint8Array>,
  { type, streamed, partBytesMax }: FormOptions,
): AsyncGenerator<FormEvent, void> {
  const events: FormEvent[] = []
  let isComplete = false
  const parser = make({
    headers: { 'content-type': type },
    isFile: ({ name }) => name === streamed,
    maxFieldSize: partBytesMax,
    onField: ({ name }, value) => events.push({ kind: 'part', name, value }),
    onFile({ name }) {
      events.push({ kind: 'begin', name })
      return (chunk) => events.push(chunk ? { kind: 'chunk', chunk } : { kind: 'end' })
    },
    onError(error) {
      throw problemOf(error, partBytesMax)
    },
    onDone() {
      isComplete = true
    },
  })
  for await (const bytes of arriving) {
    parser.write(bytes)
    yield* events.splice(0)
  }
  if (!isComplete) throw problemOf({ _tag: 'EndNotReached' }, partBytesMax)
}

function problemOf(error: MultipartError, partBytesMax: number): AppError {
  if (error._tag !== 'ReachedLimit')
    return invalidRequest([{ field: 'body', message: 'must be a complete multipart/form-data' }])
  const detail = `A part other than the recording has at most ${partBytesMax} bytes.`
  return new AppError('payload_too_large', 'Payload too large', { detail })
}
