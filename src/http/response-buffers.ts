import { AppError } from '../errors.ts'

/** How much of one answer is made at once: each part costs a turn of the event loop. */
const partBytes = 1_048_576
/** Of all answers together; beyond it parts are single slices, and no large document is read. */
const heldBytesMax = 67_108_864
/** Smaller documents stop counting once they are made: a socket takes at least most of one at once. */
const countedBytesMin = 262_144
const retryAfterSeconds = 1
const encoder = new TextEncoder()

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Bounds the memory of answers that clients have not read yet. A client that asks and does not read costs memory, so
 * all answers share one limit; beyond it, an answer continues only as its client reads.
 */
export class ResponseBuffers {
  readonly #held = { bytes: 0 }

  /**
   * A body of `head`, the slices and `tail`. Its first part is made before the answer begins, so that a failure is
   * still a problem answer; each further part once the client has taken the one before.
   * @param sliceBytesMax room for the largest slice is kept until the end if it is large
   * @returns the bytes themselves of a small body
   * @throws unavailable when there is none
   */
  async streamOf(
    head: string,
    slices: AsyncIterable<string | Bytes>,
    tail: string,
    sliceBytesMax = 0,
  ): Promise<ReadableStream<Uint8Array> | Bytes> {
    const parts = withEnds(head, slices, tail)
    const share = new Share(this.#held)
    const keptBytes = sliceBytesMax < countedBytesMin ? 0 : sliceBytesMax
    if (keptBytes > 0) this.#checkRoom()
    let isWhole = false
    const make = async () => {
      share.hold(keptBytes)
      // Before reading, since many answers may be about to read.
      share.hold(Math.max(keptBytes, this.#held.bytes < heldBytesMax ? partBytes : 0))
      const { part, isLast } = await gather(parts, Math.min(share.bytes, partBytes)).catch((error) => {
        share.end()
        throw error
      })
      isWhole = isLast
      if (part) share.hold(Math.max(keptBytes, part.length))
      else share.end()
      return part
    }
    const begun = await make()
    if (begun && isWhole && begun.length < countedBytesMin) {
      share.end()
      return begun
    }
    let first: Bytes | null = begun
    return new ReadableStream(
      {
        async pull(controller) {
          const part = first ?? (isWhole ? null : await make())
          first = null
          if (part) {
            controller.enqueue(part)
          } else {
            share.end()
            controller.close()
          }
        },
        async cancel() {
          share.end()
          await parts.return(undefined)
        },
      },
      { highWaterMark: 0 },
    )
  }

  /**
   * A body that goes on until the client leaves, each part made once the client has taken the one before. `make` calls
   * `admit` before it makes a part of that many bytes, which throws `unavailable` when there is no room for it.
   */
  endlessOf(
    make: (admit: (bytes: number) => void, signal: AbortSignal) => AsyncGenerator<string>,
  ): ReadableStream<Uint8Array> {
    const share = new Share(this.#held)
    const leaving = new AbortController()
    const admit = (bytes: number) => {
      if (bytes < countedBytesMin) return
      this.#checkRoom()
      share.hold(bytes)
    }
    const parts = make(admit, leaving.signal)
    return new ReadableStream(
      {
        async pull(controller) {
          share.hold(0)
          const { done, value } = await parts.next()
          if (leaving.signal.aborted) return
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        },
        async cancel() {
          leaving.abort()
          share.end()
          await parts.return(undefined)
        },
      },
      { highWaterMark: 0 },
    )
  }

  /**
   * What `make` gives, with its document as a body. Before `make` reads a large document it calls `admit`, which throws
   * `unavailable` when answers hold too much memory already.
   */
  bodyOf<Made extends { document: string | Bytes }>(
    make: (admit: (bytes: number) => void) => Promise<Made>,
  ): Promise<Omit<Made, 'document'> & { document: string | Bytes | ReadableStream<Uint8Array> }> {
    const share = new Share(this.#held)
    const admit = (bytes: number) => {
      this.#checkRoom()
      share.hold(bytes)
    }
    const give = (made: Made) => {
      if (made.document.length >= countedBytesMin)
        return { ...made, document: documentStream(made.document, share) }
      share.end()
      return made
    }
    // Not async: most documents are small, and another promise would cost them more than this does.
    return make(admit).then(give, (error) => {
      share.end()
      throw error
    })
  }

  #checkRoom(): void {
    if (this.#held.bytes >= heldBytesMax) throw tooMuch()
  }
}

/** One answer's part of what all hold. After its end it holds nothing, whatever is still being made. */
class Share {
  readonly #all: { bytes: number }
  #isOver = false
  #bytes = 0

  constructor(all: { bytes: number }) {
    this.#all = all
  }

  get bytes(): number {
    return this.#bytes
  }

  hold(wanted: number): void {
    const bytes = this.#isOver ? 0 : wanted
    this.#all.bytes += bytes - this.#bytes
    this.#bytes = bytes
  }

  end(): void {
    this.#isOver = true
    this.hold(0)
  }
}

/** A document as a body that ends its share when the client has taken all of it. */
function documentStream(text: string | Bytes, share: Share): ReadableStream<Uint8Array> {
  const document = typeof text === 'string' ? encoder.encode(text) : text
  share.hold(document.length)
  let sent = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (sent < document.length) {
          // Whatever a socket does not take at once is copied.
          controller.enqueue(document.subarray(sent, sent + partBytes))
          sent += partBytes
        } else {
          share.end()
          controller.close()
        }
      },
      cancel: () => share.end(),
    },
    { highWaterMark: 0 },
  )
}

/** The next slices: at least one, and up to about `bytesMax`; null when there are no more. */
async function gather(
  parts: AsyncGenerator<string | Bytes>,
  bytesMax: number,
): Promise<{ part: Bytes | null; isLast: boolean }> {
  const gathered: Bytes[] = []
  let bytes = 0
  let isLast = false
  do {
    const { done, value } = await parts.next()
    if (done) {
      isLast = true
      break
    }
    const part = typeof value === 'string' ? encoder.encode(value) : value
    gathered.push(part)
    bytes += part.length
  } while (bytes < bytesMax)
  const [only = null] = gathered
  return { part: gathered.length > 1 ? Buffer.concat(gathered) : only, isLast }
}

async function* withEnds<Part>(head: string, slices: AsyncIterable<Part>, tail: string) {
  yield head
  yield* slices
  yield tail
}

function tooMuch(): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail: 'Too many large records are being read or sent.',
    retryAfterSeconds,
  })
}
