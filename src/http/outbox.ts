import { AppError } from '../errors.ts'

/** So much of one answer is made at once: each part costs a turn. */
const partBytes = 1_048_576
/** Of all answers together; beyond it parts are single slices, and no large document is begun. */
const heldBytesMax = 67_108_864
/** Smaller documents are not counted: a socket takes them at once, or most of them. */
const countedBytesMin = 262_144
const retryAfterSeconds = 1
const encoder = new TextEncoder()

/**
 * What was made for clients that have not taken it yet. A client that asks and does not read costs memory, so there
 * is a limit to all of it together, and what is beyond is made when the client has taken what was made before.
 */
export class Outbox {
  #heldBytes = 0

  /**
   * A body of `head`, the slices and `tail`. Its first part is made before the answer begins, so that a failure is
   * still a problem answer; each further one when the client has taken the one before.
   */
  async streamOf(
    head: string,
    slices: AsyncIterable<string | Uint8Array>,
    tail: string,
  ): Promise<ReadableStream<Uint8Array>> {
    const parts = withEnds(head, slices, tail)
    const share = this.#share()
    const make = async () => {
      share.hold(0)
      // Before the reading, since many may be about to read.
      share.hold(this.#heldBytes < heldBytesMax ? partBytes : 0)
      const part = await gather(parts, share.bytes).catch((error) => {
        share.end()
        throw error
      })
      share.hold(part?.length ?? 0)
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

  /** A document that is there as a whole, as a body. @throws unavailable when too much waits for its clients already */
  bodyOf(document: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
    if (document.length < countedBytesMin) return document
    if (this.#heldBytes >= heldBytesMax) throw tooMuch()
    const share = this.#share()
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

  /** One answer's part of what is held. After its end it holds nothing, whatever is still being made. */
  #share() {
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
  return gathered.length === 0 ? null : Buffer.concat(gathered)
}

async function* withEnds<Part>(head: string, slices: AsyncIterable<Part>, tail: string) {
  yield head
  yield* slices
  yield tail
}

function tooMuch(): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail: 'Too many large answers wait for their clients to take them.',
    retryAfterSeconds,
  })
}
