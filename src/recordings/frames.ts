import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { AppError } from '../errors.ts'

// A recording's file is a row of frames, each encrypted and authenticated by itself with AES-256-GCM, so that any part can
// be read without the rest. A key encrypts one file only, so the frame's number is a nonce.

export const frameBytes = 65_536
const tagBytes = 16
const keyBytes = 32
const nonceBytes = 12
const storedFrameBytes = frameBytes + tagBytes

export function newKey(): Buffer {
  return randomBytes(keyBytes)
}

/** The size of the file of a recording. */
export function storedBytesOf(bytes: number): number {
  return bytes + Math.ceil(bytes / frameBytes) * tagBytes
}

/** @param frame at most `frameBytes`; less only for the last one */
export function encryptFrame(key: Uint8Array, number: number, frame: Uint8Array): Buffer[] {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number))
  return [cipher.update(frame), cipher.final(), cipher.getAuthTag()]
}

/** Reads from a file; less than asked for only at its end. */
export type ReadAt = (position: number, length: number) => Promise<Uint8Array>

interface Encrypted {
  key: Uint8Array
  /** The length of the recording, not of its file. */
  bytes: number
  read: ReadAt
}

/** Bytes `start` to `end`, exclusive, decrypted; no more than some frames. @throws unavailable if the file was changed or cut */
export async function decryptRange(
  { key, bytes, read }: Encrypted,
  start: number,
  end: number,
): Promise<Buffer> {
  const first = Math.floor(start / frameBytes)
  const last = Math.ceil(end / frameBytes)
  const length = Math.min(storedBytesOf(bytes), last * storedFrameBytes) - first * storedFrameBytes
  const storedFrames = await read(first * storedFrameBytes, length)
  if (storedFrames.byteLength !== length) throw damagedRecording()
  const parts: Buffer[] = []
  for (let at = 0; at < length; at += storedFrameBytes) {
    const frame = storedFrames.subarray(at, at + storedFrameBytes)
    parts.push(decryptFrame(key, first + at / storedFrameBytes, frame))
  }
  const from = first * frameBytes
  const whole = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
  return whole.subarray(start - from, end - from)
}

function decryptFrame(key: Uint8Array, number: number, storedFrame: Uint8Array): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number))
  const tagAt = storedFrame.byteLength - tagBytes
  decipher.setAuthTag(storedFrame.subarray(tagAt))
  const frame = decipher.update(storedFrame.subarray(0, tagAt))
  try {
    decipher.final()
  } catch (error) {
    throw damagedRecording(error)
  }
  return frame
}

export function damagedRecording(cause?: unknown): AppError {
  const detail = "The recording's file is damaged. Bring it back from a backup, under its name, or delete it."
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds: 60, cause })
}

function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(nonceBytes)
  nonce.writeUIntBE(number, nonceBytes - 6, 6)
  return nonce
}
