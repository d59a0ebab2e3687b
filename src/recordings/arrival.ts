import { createHash } from 'node:crypto'
import { AppError, invalidRequest } from '../errors.ts'
import type { Draft, RecordingFiles } from './files.ts'
import { encryptFrame, frameBytes, newKey } from './frames.ts'
import { beginningBytes, mediaTypeOf, mediaTypes } from './media-type.ts'

/** How many frames are written at once. */
const framesPerWrite = 4

/** A recording that has arrived whole, in a durable draft. */
export interface Arrived {
  draft: Draft
  key: Buffer
  contentType: string
  bytes: number
  /** Of the recording as it was sent. */
  sha256: string
}

/**
 * Encrypts a recording as it arrives. Nothing is left of one that fails.
 * @throws invalid_request if it is empty, unsupported_media_type, payload_too_large, insufficient_storage, or what
 * `parts` throws
 */
export async function receive(
  parts: AsyncIterable<Uint8Array>,
  { files, bytesMax }: { files: Pick<RecordingFiles, 'create'>; bytesMax: number },
): Promise<Arrived> {
  const key = newKey()
  const hash = createHash('sha256')
  let draft: Draft | null = null
  let contentType: string | null = null
  let bytes = 0
  let frames = 0
  const encrypted: Buffer[] = []
  const write = async (frame: Uint8Array) => {
    // The first frame, which begins as the file does.
    contentType ??= mediaTypeOf(frame)
    if (contentType === null) throw notAudio()
    draft ??= await files.create()
    hash.update(frame)
    encrypted.push(...encryptFrame(key, frames++, frame))
    if (frames % framesPerWrite === 0) await draft.write(encrypted.splice(0))
  }
  try {
    const frame = Buffer.allocUnsafe(frameBytes)
    let filled = 0
    for await (const part of parts) {
      bytes += part.byteLength
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      for (let at = 0; at < part.byteLength; ) {
        const taken = part.subarray(at, at + frameBytes - filled)
        frame.set(taken, filled)
        at += taken.byteLength
        filled += taken.byteLength
        // At once, since an answer to what is no audio should not wait for all of it.
        if (frames === 0 && filled >= beginningBytes && mediaTypeOf(frame) === null) throw notAudio()
        if (filled < frameBytes) continue
        await write(frame)
        filled = 0
      }
    }
    if (bytes === 0) throw invalidRequest([{ field: 'body', message: 'is required: the recording' }])
    if (filled > 0) await write(frame.subarray(0, filled))
    const whole = draft as Draft | null
    if (whole === null || contentType === null) throw notAudio()
    if (encrypted.length > 0) await whole.write(encrypted)
    await whole.finish()
    return { draft: whole, key, contentType, bytes, sha256: hash.digest('hex') }
  } catch (error) {
    await (draft as Draft | null)?.discard()
    throw error
  }
}

function notAudio(): AppError {
  return new AppError('unsupported_media_type', 'Unsupported media type', {
    detail: `Send a recording as its bytes are, not as a form or as JSON: ${mediaTypes.join(', ')}.`,
  })
}

function tooLarge(bytesMax: number): AppError {
  return new AppError('payload_too_large', 'Payload too large', {
    detail: `The recording has more than ${bytesMax} bytes (RECORDING_MAX_BYTES). Nothing was stored.`,
  })
}
