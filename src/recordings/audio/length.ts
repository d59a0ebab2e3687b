import { parseBuffer } from 'music-metadata'
import type { AudioLength, AudioReader } from './encrypted-audio.ts'
import { mp4Length } from './mp4.ts'
import { oggLength } from './ogg.ts'
import { wavLength } from './wav.ts'

/** How much is looked at in one place. */
const windowBytes = 65_536

const readers: Record<string, (reader: AudioReader, msMax: number) => Promise<AudioLength>> = {
  'audio/wav': wavLength,
  'audio/ogg': oggLength,
  'audio/flac': flacLength,
  'audio/mp4': mp4Length,
}

/**
 * Reads the length from where the file's format has it: a few windows of it, of MP4 in fragments all their headers.
 * @throws Error if the file is not of its type, or takes longer than `msMax`
 */
export async function lengthOf(
  reader: AudioReader,
  contentType: string,
  msMax: number,
): Promise<AudioLength> {
  const read = readers[contentType]
  const { durationSeconds, channels } = await (read?.(reader, msMax) ?? lengthInStart(reader, contentType))
  return { durationSeconds: positive(durationSeconds), channels: positive(channels) }
}

function positive(value: number | null): number | null {
  return value !== null && Number.isFinite(value) && value > 0 ? value : null
}

/** The first block of a file has it: RFC 9639 §8.2. */
async function flacLength(reader: AudioReader): Promise<AudioLength> {
  const packed = (await reader.read(18, 26)).readBigUInt64BE()
  const seconds = Number(packed & 0xf_ffff_ffffn) / Number(packed >> 44n)
  return { durationSeconds: seconds, channels: Number((packed >> 41n) & 7n) + 1 }
}

/** Reads the length of MP3, after its tag, and of WebM. */
async function lengthInStart(reader: AudioReader, contentType: string): Promise<AudioLength> {
  const start = tagBytes(await reader.read(0, 10))
  const window = await reader.read(start, start + windowBytes)
  const options = { skipCovers: true, skipPostHeaders: true }
  const { format } = await parseBuffer(window, contentType, options)
  const { duration, bitrate = 0, codecProfile, numberOfChannels: channels = null } = format
  const isCut = start + window.length < reader.bytes
  // All its frames have one size, so that of the file tells.
  const seconds = isCut && codecProfile === 'CBR' ? ((reader.bytes - start) * 8) / bitrate : duration
  return { durationSeconds: seconds ?? null, channels }
}

/** How long the tag with a title and pictures is: ID3v2.4 §3.1. */
export function tagBytes(head: Buffer): number {
  if (head.toString('latin1', 0, 3) !== 'ID3') return 0
  return 10 + head.subarray(6).reduce((bytes, digit) => bytes * 128 + digit, 0)
}
