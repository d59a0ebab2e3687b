import type { Span } from '../../calls/sound/figures.ts'
import type { AudioReader } from './encrypted-audio.ts'
import { tagBytes } from './length.ts'
import { overlapWith } from './overlap.ts'

// Layer III: ISO 11172-3 §2.4 and, for lower rates, 13818-3 §2.4. The tag of LAME: http://gabriel.mp3-tech.org/mp3infotag.html

/** By version and the header's index, in kbit/s. An index of 0 is a rate that nothing tells. */
const bitrates = {
  mpeg1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  mpeg2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
}
const samplingRates = [44_100, 48_000, 32_000]
/** By the header's two bits: MPEG-2.5, none, MPEG-2, MPEG-1. */
const rateDivisors = [4, 0, 2, 1]
/** No frame is longer. */
const frameBytesMax = 1_442
/** As far as a frame's main data may begin before the frame. */
const reservoirBytesMax = 511
/** A frame sounds on through the transform's overlap and the filter bank. */
const trailSamples = 576 + 512
/** What decoders leave out at the start beside what the tag says. */
const decoderDelay = 529

interface Frame {
  bytes: Buffer
  isMpeg1: boolean
  channels: number
  rate: number
  samples: number
  /** Where the side information begins. */
  side: number
  /** Where the main data begins: that of this frame or of later ones. */
  data: number
  hasChecksum: boolean
}

/**
 * Empties frames, and clears what they have in the frames before.
 * @throws Error if the file has something between its frames
 */
export async function* mutedMp3(reader: AudioReader, spans: readonly Span[]): AsyncGenerator<Uint8Array> {
  const start = tagBytes(await reader.read(0, 10))
  if (start > 0) yield* partsOf(reader, start)
  const isMuted = overlapWith(spans)
  const held: Frame[] = []
  let heldBytes = 0
  let seconds = 0
  for (let at = start; ; ) {
    const frame = frameIn(await reader.read(at, at + frameBytesMax))
    if (!frame) {
      await refuseMore(reader, at, at === start)
      break
    }
    const delay = at === start ? delayIn(frame) : null
    at += frame.bytes.byteLength
    // The first frame may be a tag, which is not played.
    if (delay === null) {
      const end = seconds + (frame.samples + trailSamples) / frame.rate
      if (isMuted(seconds, end)) empty(frame, held)
      seconds += frame.samples / frame.rate
    } else seconds = -delay / frame.rate
    held.push(frame)
    heldBytes += dataBytesOf(frame)
    while (held[0] && heldBytes - dataBytesOf(held[0]) >= reservoirBytesMax) {
      heldBytes -= dataBytesOf(held[0])
      yield held.shift()?.bytes ?? new Uint8Array()
    }
  }
  yield* held.map(({ bytes }) => bytes)
}

async function* partsOf(reader: AudioReader, end: number): AsyncGenerator<Uint8Array> {
  const partBytes = 65_536
  for (let at = 0; at < end; at += partBytes)
    yield Buffer.from(await reader.read(at, Math.min(end, at + partBytes)))
}

/** What follows the last frame is left out: the beginning of another, and tags. @throws Error for anything else */
async function refuseMore(reader: AudioReader, from: number, isFirst: boolean): Promise<void> {
  let at = from
  for (let bytes = -1; bytes !== 0 && at < reader.bytes; at += bytes)
    bytes = tagBytesAt(await reader.read(at, at + 32))
  // A tag between frames would end the sound for this parser alone.
  if (isFirst || (at > from && at < reader.bytes) || reader.bytes - at >= frameBytesMax)
    throw new Error('There is something that is no frame')
}

/** The length of a tag that begins here: ID3v1, ID3v2, APE; 0 for none. */
function tagBytesAt(head: Buffer): number {
  const begins = (name: string) => head.toString('latin1', 0, name.length) === name
  if (begins('TAG')) return 128
  return begins('APETAGEX') && head.byteLength === 32
    ? 32 + head.readUInt32LE(12)
    : tagBytes(head.subarray(0, 10))
}

/** The frame that begins here, copied; null if there is none, or not all of it. */
function frameIn(bytes: Buffer): Frame | null {
  const [sync = 0, head = 0, rates = 0, mode = 0] = bytes
  const version = (head >> 3) & 3
  const divisor = rateDivisors[version]
  const isMpeg1 = version === 3
  const bitrate = bitrates[isMpeg1 ? 'mpeg1' : 'mpeg2'][rates >> 4]
  const rate = (samplingRates[(rates >> 2) & 3] ?? 0) / (divisor || Number.NaN)
  if (sync !== 0xff || (head & 0xe6) !== 0xe2 || !bitrate || !(rate > 0)) return null
  const samples = isMpeg1 ? 1_152 : 576
  const length = Math.floor((samples * 125 * bitrate) / rate) + ((rates >> 1) & 1)
  if (bytes.byteLength < length) return null
  const channels = mode >> 6 === 3 ? 1 : 2
  const hasChecksum = (head & 1) === 0
  const side = hasChecksum ? 6 : 4
  const data = side + (isMpeg1 ? (channels === 1 ? 17 : 32) : channels === 1 ? 9 : 17)
  return {
    bytes: Buffer.from(bytes.subarray(0, length)),
    isMpeg1,
    channels,
    rate,
    samples,
    side,
    data,
    hasChecksum,
  }
}

/** How many samples the tag of an encoder says that players leave out; null if the frame is no tag. */
function delayIn({ bytes, side, data, hasChecksum }: Frame): number | null {
  // It stands where it would without a checksum.
  const at = data - (hasChecksum ? side - 4 : 0)
  const name = bytes.toString('latin1', at, at + 4)
  if (name !== 'Xing' && name !== 'Info') return null
  const flags = bytes.readUInt32BE(at + 4)
  const fields = [4, 4, 100, 4].reduce((sum, length, flag) => sum + (flags & (1 << flag) ? length : 0), 0)
  const delayAt = at + 8 + fields + 21
  return delayAt + 2 > bytes.byteLength ? 0 : (bytes.readUInt16BE(delayAt) >> 4) + decoderDelay
}

function dataBytesOf({ bytes, data }: Frame): number {
  return bytes.byteLength - data
}

/** @param before the frames before it that have main data */
function empty(frame: Frame, before: readonly Frame[]): void {
  const { bytes, isMpeg1, channels, side, hasChecksum, data } = frame
  const [granules, granuleBits, backBits, privateBits] = isMpeg1
    ? [2, 59, 9, channels === 1 ? 5 : 3]
    : [1, 63, 8, channels === 1 ? 1 : 2]
  const scaleFactorBits = isMpeg1 ? 4 * channels : 0
  const first = side * 8 + backBits + privateBits + scaleFactorBits
  let bits = 0
  for (let granule = 0; granule < granules * channels; granule++)
    bits += readBits(bytes, first + granule * granuleBits, 12)
  const back = readBits(bytes, side * 8, backBits)
  clearData([...before, frame], before.reduce((sum, each) => sum + dataBytesOf(each), 0) - back, bits)
  clearBits(bytes, first - scaleFactorBits, scaleFactorBits + granules * channels * granuleBits)
  if (hasChecksum) bytes.writeUInt16BE(checksumOf([bytes.subarray(2, 4), bytes.subarray(side, data)]), 4)
}

/** Clears bits of the main data, which goes on from frame to frame. @param from in bytes */
function clearData(frames: readonly Frame[], from: number, bits: number): void {
  let start = 0
  for (const frame of frames) {
    const end = start + dataBytesOf(frame)
    const first = Math.max(from * 8, start * 8)
    const last = Math.min(from * 8 + bits, end * 8)
    if (first < last) clearBits(frame.bytes, first - start * 8 + frame.data * 8, last - first)
    start = end
  }
}

function clearBits(bytes: Buffer, from: number, count: number): void {
  for (let bit = from; bit < from + count; ) {
    const place = bit >> 3
    // Whole bytes at once.
    if ((bit & 7) === 0 && bit + 8 <= from + count) {
      bytes[place] = 0
      bit += 8
    } else {
      bytes[place] = (bytes[place] ?? 0) & ~(0x80 >> (bit & 7))
      bit++
    }
  }
}

function readBits(bytes: Buffer, from: number, count: number): number {
  let value = 0
  for (let bit = from; bit < from + count; bit++)
    value = (value << 1) | (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1)
  return value
}

/** CRC-16 of the header's last two bytes and the side information. */
function checksumOf(parts: readonly Buffer[]): number {
  let sum = 0xffff
  for (const byte of Buffer.concat(parts))
    for (let bit = 7; bit >= 0; bit--) {
      const isSet = ((sum >> 15) ^ (byte >> bit)) & 1
      sum = ((sum << 1) & 0xffff) ^ (isSet ? 0x8005 : 0)
    }
  return sum
}
