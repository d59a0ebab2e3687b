import { AppError, unavailable } from '../errors.ts'
import { SharedLimit } from '../shared-limit.ts'

/**
 * The size of a part of an answer. Above 128 KiB, the allocator maps and unmaps memory for each, which takes longer than a
 * turn of the event loop for each of more parts.
 */
const partBytes = 65_536
/** The limit of all answers together. Beyond a project's part of it, parts are single slices, and no large document is read. */
const heldBytesMax = 67_108_864
/** Smaller documents stop counting once they are made, because a socket takes most of one at once. */
const countedBytesMin = 262_144
/** The runtime copies what a socket does not take of a document at once. */
const documentPartBytes = 1_048_576
const encoder = new TextEncoder()

type Bytes = Uint8Array<ArrayBuffer>

/** Whoever reads an answer: the caller, or a person in the console. */
export interface Reader {
  readonly projectId: number
  /** Checks again whether they may, since a slow reader may outlast their key or session. @throws as their first check */
  readonly check: () => Promise<unknown>
}

/**
 * Bounds the memory of unread answers. All projects share one limit; beyond its part, a project's answers continue only
 * as their clients read.
 */
export class ResponseBuffers {
  readonly #buffered = new SharedLimit({ max: heldBytesMax })
  readonly #refusal: string

  /** @param nothingDone what a refusal says beside its reason */
  constructor(nothingDone = '') {
    this.#refusal = `Too many large records are being read or sent.${nothingDone}`
  }

  /**
   * A body of `head`, the slices and `tail`. Its first part is made before the answer begins, so that a failure is
   * still a problem answer. Each further part is made once the client has taken the previous one, and `check` passes.
   * @param sliceBytesMax the largest slice; if large, room for it is kept until the end
   * @returns bytes for a small body
   * @throws unavailable if there is no room
   */
  async streamOf(
    { projectId, check }: Reader,
    head: string,
    slices: AsyncIterable<string | Bytes>,
    tail: string,
    sliceBytesMax = 0,
  ): Promise<ReadableStream<Uint8Array> | Bytes> {
    const parts = withEnds(head, slices, tail)
    const share = new Share(this.#buffered, projectId)
    const keptBytes = sliceBytesMax < countedBytesMin ? 0 : sliceBytesMax
    if (keptBytes > 0) this.#checkRoom(projectId)
    let isWhole = false
    const end = async () => {
      share.end()
      await parts.return(undefined)
    }
    const fail = async (error: unknown) => {
      await end()
      throw error
    }
    const make = async (bytesMax = partBytes) => {
      share.hold(keptBytes)
      // Reserved before reading, since many answers may be about to read.
      share.hold(Math.max(keptBytes, this.#buffered.hasRoom(projectId) ? bytesMax : 0))
      const { part, isLast } = await gather(parts, Math.min(share.bytes, bytesMax)).catch(fail)
      isWhole = isLast
      if (part) share.hold(Math.max(keptBytes, part.length))
      else share.end()
      return part
    }
    const start = await make(countedBytesMin)
    if (start && isWhole && start.length < countedBytesMin) {
      share.end()
      return start
    }
    let first: Bytes | null = start
    const next = async () => {
      const part =
        first ??
        (isWhole
          ? null
          : await check()
              .catch(fail)
              .then(() => make())
              .catch(breakOff))
      first = null
      return part
    }
    return streamOfParts(next, end)
  }

  /**
   * A body that continues until the client leaves. Each part is made once the client has taken the previous one, and sent
   * if the reader's check passes. A failure ends the body, and its client connects again. `make` calls `admit` before it
   * makes a part of that many bytes, which throws `unavailable` if there is no room.
   * @param onFailure told of failures that are the service's own
   */
  endlessOf(
    { projectId, check }: Reader,
    make: (admit: (bytes: number) => void, signal: AbortSignal) => AsyncGenerator<string>,
    onFailure: (error: unknown) => void,
  ): ReadableStream<Uint8Array> {
    const share = new Share(this.#buffered, projectId)
    const leaving = new AbortController()
    const { signal } = leaving
    const admit = (bytes: number) => {
      if (bytes < countedBytesMin) return
      this.#checkRoom(projectId)
      share.hold(bytes)
    }
    const parts = make(admit, signal)
    const end = async () => {
      leaving.abort()
      share.end()
      await parts.return(undefined)
    }
    const next = async () => {
      share.hold(0)
      try {
        const { done, value } = await parts.next()
        if (done) return null
        await check()
        return encoder.encode(value)
      } catch (error) {
        if (!(error instanceof AppError)) onFailure(error)
        return null
      }
    }
    return streamOfParts(next, end)
  }

  /**
   * The result of `make`, with its document as a body. `make` calls `admit` before it reads a large document, which
   * throws `unavailable` if answers hold too much memory already.
   */
  bodyOf<Made extends { document: string | Bytes }>(
    projectId: number,
    make: (admit: (bytes: number) => void) => Promise<Made>,
  ): Promise<Omit<Made, 'document'> & { document: string | Bytes | ReadableStream<Uint8Array> }> {
    const share = new Share(this.#buffered, projectId)
    const admit = (bytes: number) => {
      this.#checkRoom(projectId)
      share.hold(bytes)
    }
    const give = (answer: Made) => {
      if (answer.document.length >= countedBytesMin)
        return { ...answer, document: documentStream(answer.document, share) }
      share.end()
      return answer
    }
    // Not async, since another promise would cost more than making a small document.
    return make(admit).then(give, (error) => {
      share.end()
      throw error
    })
  }

  #checkRoom(projectId: number): void {
    if (!this.#buffered.hasRoom(projectId)) throw unavailable(this.#refusal)
  }
}

/** Throws what breaks an answer off. The runtime prints any reason, but a revoked key is no fault of the service. */
function breakOff(error: unknown): never {
  throw error instanceof AppError ? undefined : error
}

/** The memory that one answer holds. After its end it holds nothing, even if a part is still being made. */
class Share {
  readonly #all: SharedLimit
  readonly #projectId: number
  #isOver = false
  #bytes = 0

  constructor(all: SharedLimit, projectId: number) {
    this.#all = all
    this.#projectId = projectId
  }

  get bytes(): number {
    return this.#bytes
  }

  hold(newBytes: number): void {
    const bytes = this.#isOver ? 0 : newBytes
    this.#all.add(this.#projectId, bytes - this.#bytes)
    this.#bytes = bytes
  }

  end(): void {
    this.#isOver = true
    this.hold(0)
  }
}

/** A document as a body. Ends its share when the client has taken all of it. */
function documentStream(text: string | Bytes, share: Share): ReadableStream<Uint8Array> {
  const document = typeof text === 'string' ? encoder.encode(text) : text
  share.hold(document.length)
  let offset = 0
  // In parts, because the runtime copies what a socket does not take at once.
  const next = () => {
    const part = document.subarray(offset, offset + documentPartBytes)
    offset += part.length
    return part.length > 0 ? part : null
  }
  return streamOfParts(next, () => share.end())
}

/** A body whose next part is made once the client has taken the previous one; null ends it. @param end its clean-up */
export function streamOfParts(
  next: () => Bytes | null | Promise<Bytes | null>,
  end: () => void | Promise<void>,
): ReadableStream<Bytes> {
  let hasLeft = false
  return new ReadableStream(
    {
      async pull(controller) {
        const part = await next()
        if (hasLeft) return
        if (part) return controller.enqueue(part)
        await end()
        controller.close()
      },
      cancel() {
        hasLeft = true
        return end()
      },
    },
    { highWaterMark: 0 },
  )
}

/** The next slices: at least one, and up to about `bytesMax`; null when there are no more. */
async function gather(
  parts: AsyncGenerator<string | Bytes>,
  bytesMax: number,
): Promise<{ part: Bytes | null; isLast: boolean }> {
  const chunks: Bytes[] = []
  let bytes = 0
  let isLast = false
  do {
    const { done, value } = await parts.next()
    if (done) {
      isLast = true
      break
    }
    const part = typeof value === 'string' ? encoder.encode(value) : value
    chunks.push(part)
    bytes += part.length
  } while (bytes < bytesMax)
  const [only = null] = chunks
  return { part: chunks.length > 1 ? Buffer.concat(chunks) : only, isLast }
}

async function* withEnds<Part>(head: string, slices: AsyncIterable<Part>, tail: string) {
  yield head
  yield* slices
  yield tail
}
