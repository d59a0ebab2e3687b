import { AppError } from '../errors.ts'

/** So much of one answer is made at once: each part costs a turn. */
const partBytes = 1_048_576
/** Of all answers together; beyond it parts are single slices, and no large document is read. */
const heldBytesMax = 67_108_864
/** Smaller documents are not counted once they are made: a socket takes them at once, or most of them. */
const countedBytesMin = 262_144
const retryAfterSeconds = 1
const encoder = new TextEncoder()

type Bytes = Uint8Array<ArrayBuffer>

interface Share {
  readonly bytes: number
  hold(bytes: number): void
  end(): void
}

/**
 * What was made for clients that have not taken it yet. A client that asks and does not read costs memory, so there
 * is a limit to all of it together, and what is beyond is made when the client has taken what was made before.
 */
export class Outbox {
  #heldBytes = 0

  /**
   * A body of `head`, the slices and `tail`. Its first part is made before the answer begins, so that a failure is
   * still a problem answer; each further one when the client has taken the one before.
   * @param sliceBytesMax room for the largest slice is kept until the end if it is large
   * @throws unavailable when there is none
   */
  async streamOf(
    head: string,
    slices: AsyncIterable<string | Uint8Array>,
    tail: string,
    sliceBytesMax = 0,
  ): Promise<ReadableStream<Uint8Array>> {
    const parts = withEnds(head, slices, tail)
    const share = this.#share()
    const keptBytes = sliceBytesMax < countedBytesMin ? 0 : sliceBytesMax
    if (keptBytes > 0) this.#checkRoom()
    const make = async () => {
      share.hold(keptBytes)
      // Before the reading, since many may be about to read.
      share.hold(Math.max(keptBytes, this.#heldBytes < heldBytesMax ? partBytes : 0))
      const part = await gather(parts, Math.min(share.bytes, partBytes)).catch((error) => {
        share.end()
        throw error
      })
      if (part) share.hold(Math.max(keptBytes, part.length))
      else share.end()
      return part
    }
    let first: Promise<Uint8Array | null> | null = make()
    await first
    return new ReadableStream(
      {
        async pull(controller) {
          const part = await (first ?? make())
          first = null
          if (part) controller.enqueue(part)
          else controller.close()
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
   * What `make` gives, with its document as a body. It calls `admit` before it reads a large one, which throws
   * `unavailable` when too much is being made or waits for its clients already.
   */
  async bodyOf<Made extends { document: string | Bytes }>(
    make: (admit: (bytes: number) => void) => Promise<Made>,
  ): Promise<Omit<Made, 'document'> & { document: string | Bytes | ReadableStream<Uint8Array> }> {
    const share = this.#share()
    const admit = (bytes: number) => {
      this.#checkRoom()
      share.hold(bytes)
    }
    try {
      const made = await make(admit)
      if (made.document.length >= countedBytesMin)
        return { ...made, document: documentStream(made.document, share) }
      share.end()
      return made
    } catch (error) {
      share.end()
      throw error
    }
  }

  #checkRoom(): void {
    if (this.#heldBytes >= heldBytesMax) throw tooMuch()
  }

  /** One answer's part of what is held. After its end it holds nothing, whatever is still being made. */
  #share(): Share {
    let bytes = 0
    let isOver = false
    const hold = (wanted: number) => {
      const next = isOver ? 0 : wanted
      this.#heldBytes += next - bytes
      bytes = next
    }
    return {
      get bytes() {
        return bytes
      },
      hold,
      end() {
        isOver = true
        hold(0)
      },
    }
  }
}

/** A document as a body that gives its share back when it is taken. */
function documentStream(text: string | Bytes, share: Share): ReadableStream<Uint8Array> {
  const document = typeof text === 'string' ? encoder.encode(text) : text
  share.hold(document.length)
  let sent = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (sent < document.length) {
          // What a socket does not take at once is copied.
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

/** The next slices, up to about so many bytes and one at least; null when there are no more. */
async function gather(
  parts: AsyncGenerator<string | Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array | null> {
  const gathered: Uint8Array[] = []
  let bytes = 0
  do {
    const { done, value } = await parts.next()
    if (done) break
    const part = typeof value === 'string' ? encoder.encode(value) : value
    gathered.push(part)
    bytes += part.length
  } while (bytes < bytesMax)
  if (gathered.length === 1 && gathered[0]) return gathered[0]
  return gathered.length === 0 ? null : Buffer.concat(gathered)
}

async function* withEnds<Part>(head: string, slices: AsyncIterable<Part>, tail: string) {
  yield head
  yield* slices
  yield tail
}

function tooMuch(): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail: 'Too many large records are being read, or wait for their clients to take them.',
    retryAfterSeconds,
  })
}
