import { createHash } from 'node:crypto'
import { AppError, invalidRequest } from '../errors.ts'
import type { Turns } from '../threads/turns.ts'
import type { Draft, RecordingFiles } from './files.ts'
import { encryptFrame, frameBytes, newKey } from './frames.ts'
import { beginningBytes, mediaTypeOf, mediaTypes } from './media-type.ts'
import { release } from './release.ts'

const framesPerTurn = 4

/** A recording that has arrived whole, in a durable draft. */
export interface Arrived {
  draft: Draft
  key: Buffer
  contentType: string
  bytes: number
  /** The digest of the recording as it was sent. */
  sha256: string
}

interface ReceiveOptions {
  files: Pick<RecordingFiles, 'create'>
  bytesMax: number
  /** Everything that arrives takes turns, so that nobody else waits long. */
  turns: Turns
}

/**
 * Encrypts a recording as it arrives. Nothing is left of one that fails.
 * @throws invalid_request if it is empty, unsupported_media_type, payload_too_large, insufficient_storage, or what
 * `parts` throws
 */
export async function receive(
  parts: AsyncIterable<Uint8Array>,
  { files, bytesMax, turns }: ReceiveOptions,
): Promise<Arrived> {
  const arrival = new Arrival(files)
  try {
    const frame = Buffer.allocUnsafe(frameBytes)
    let bytes = 0
    let frameLength = 0
    for await (const part of parts) {
      bytes += part.byteLength
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      for (let at = 0; at < part.byteLength; ) {
        const piece = part.subarray(at, at + frameBytes - frameLength)
        frame.set(piece, frameLength)
        at += piece.byteLength
        frameLength += piece.byteLength
        // At once, since an answer to what is no audio should not wait for all of it.
        if (arrival.isEmpty && frameLength >= beginningBytes) refuseOther(frame)
        if (frameLength < frameBytes) continue
        if (await arrival.add(frame)) await turns.next()
        frameLength = 0
      }
      // Before the next part, which may be a long time coming: thousands of uploads must not hold several frames each.
      await arrival.write()
    }
    if (bytes === 0) throw invalidRequest([{ field: 'body', message: 'is required: the recording' }])
    if (frameLength > 0) await arrival.add(frame.subarray(0, frameLength))
    return { ...(await arrival.end()), bytes }
  } catch (error) {
    await arrival.discard()
    throw error
  }
}

/** What has arrived of a recording. Frames are encrypted while the ones before are written. */
class Arrival {
  readonly #files: ReceiveOptions['files']
  readonly #key = newKey()
  readonly #hash = createHash('sha256')
  readonly #encrypted: Buffer[] = []
  #frames = 0
  #contentType = ''
  #draft: Draft | null = null
  #writing: Promise<void> = Promise.resolve()

  constructor(files: ReceiveOptions['files']) {
    this.#files = files
  }

  get isEmpty(): boolean {
    return this.#frames === 0
  }

  /** @returns whether others should have their turn @throws unsupported_media_type, insufficient_storage */
  async add(frame: Uint8Array): Promise<boolean> {
    if (this.isEmpty) this.#contentType = refuseOther(frame)
    this.#draft ??= await this.#files.create()
    this.#hash.update(frame)
    this.#encrypted.push(...encryptFrame(this.#key, this.#frames++, frame))
    if (this.#frames % framesPerTurn > 0) return false
    await this.write()
    return true
  }

  async end(): Promise<Omit<Arrived, 'bytes'>> {
    const draft = this.#draft
    if (!draft) throw new Error('Nothing has arrived')
    await this.write()
    await this.#writing
    await draft.finish()
    return { draft, key: this.#key, contentType: this.#contentType, sha256: this.#hash.digest('hex') }
  }

  async discard(): Promise<void> {
    await this.#writing.catch(() => undefined)
    await this.#draft?.discard()
  }

  /** Begins to write what was added, after the write before. @throws insufficient_storage */
  async write(): Promise<void> {
    await this.#writing
    const parts = this.#encrypted.splice(0)
    if (parts.length === 0 || !this.#draft) return
    this.#writing = this.#draft.write(parts).finally(() => parts.forEach(release))
    // It is awaited by the next one, or at the end.
    this.#writing.catch(() => undefined)
  }
}

/** @returns the media type @throws unsupported_media_type */
function refuseOther(frame: Uint8Array): string {
  const type = mediaTypeOf(frame)
  if (type !== null) return type
  throw new AppError('unsupported_media_type', 'Unsupported media type', {
    detail: `These bytes are no recording. Send a file as it is, not as a form or as JSON: ${mediaTypes.join(', ')}.`,
  })
}

function tooLarge(bytesMax: number): AppError {
  return new AppError('payload_too_large', 'Payload too large', {
    detail: `The recording has more than ${bytesMax} bytes (RECORDING_MAX_BYTES). Nothing was stored.`,
  })
}
