import type { Span } from '../../calls/sound/figures.ts'
import type { AudioReader } from './encrypted-audio.ts'
import { type OggPage, pagesOf, serialOf } from './ogg.ts'
import { isTags, packetBytesMax } from './opus.ts'
import { overlapWith } from './overlap.ts'

// Ogg: RFC 3533. Opus: RFC 6716. Opus in Ogg: RFC 7845.

const samplesPerSecond = 48_000
/** A packet sounds on for 2.5 ms in the next one, and its pitch filter somewhat longer. */
const trailSamples = 960
const packetSamplesMax = 5_760
/** No packet that is decoded needs more. */
const heldPagesMax = 64
/** How many samples the frames of each configuration have. */
const frameSamples = [
  ...[1, 2, 3].flatMap(() => [480, 960, 1_920, 2_880]),
  ...[1, 2].flatMap(() => [480, 960]),
  ...[1, 2, 3, 4].flatMap(() => [120, 240, 480, 960]),
]
/** The configuration of CELT's fullband frames of 2.5 ms; those of 5, 10 and 20 ms follow. */
const fullband = 28
/** A frame of CELT whose silence flag is set: RFC 6716 §4.3. */
const silentFrame = [0xff, 0xfe]
const isContinuedFlag = 1

/**
 * Replaces packets by silent ones that are as long.
 * @throws Error if the file has something that is not measured, such as a second stream
 */
export async function* mutedOpus(reader: AudioReader, spans: readonly Span[]): AsyncGenerator<Uint8Array> {
  const packets = new Packets(spans)
  /** Pages whose last packet goes on. */
  const held: OggPage[] = []
  let serial: number | null = null
  for await (const read of pagesOf(reader)) {
    const page = copyOf(read)
    serial ??= serialOf(page)
    if (serialOf(page) !== serial) throw new Error('There are several streams')
    if (isContinued(page) !== held.length > 0) throw new Error('A packet is cut')
    for (const part of page.parts) {
      if (!part.isEnd) break
      const silent = packets.silenced(
        Buffer.concat([...held.map(({ parts }) => bytesOfLast(parts)), part.bytes]),
      )
      if (silent) replace(part, silent, held, page)
      yield* held.splice(0).map(toBytes)
    }
    if (page.parts.at(-1)?.isEnd !== false) yield toBytes(page)
    else if (held.push(page) > heldPagesMax) throw new Error('A packet is too long')
  }
  for (const page of held) {
    page.parts.pop()
    yield toBytes(page)
  }
}

/** The packets of a stream, in their order. */
class Packets {
  readonly #isMuted: (from: number, to: number) => boolean
  #preSkip: number | null = null
  #samples = 0

  constructor(spans: readonly Span[]) {
    this.#isMuted = overlapWith(spans)
  }

  /** What takes the place of the next packet; null if it stays. */
  silenced(packet: Buffer): Buffer | null {
    if (this.#preSkip === null) {
      this.#preSkip = packet.readUInt16LE(10)
      return null
    }
    if (isTags(packet)) return null
    const samples = samplesOf(packet)
    // A decoder skips it, and what follows would be heard at another time.
    if (samples === 0 || samples > packetSamplesMax || packet.byteLength > packetBytesMax)
      throw new Error('A packet is damaged')
    const start = this.#samples - this.#preSkip
    this.#samples += samples
    const end = this.#samples + trailSamples - this.#preSkip
    return this.#isMuted(start / samplesPerSecond, end / samplesPerSecond) ? silentPacket(packet) : null
  }
}

/** RFC 6716 §3.1. */
function samplesOf(packet: Buffer): number {
  const [head = 0, count = 0] = packet
  const frames = [1, 2, 2, count & 63][head & 3] ?? 0
  return packet.byteLength === 0 ? 0 : (frameSamples[head >> 3] ?? 0) * frames
}

function silentPacket(packet: Buffer): Buffer {
  const samples = samplesOf(packet)
  const lengths = [120, 240, 480, 960]
  const length = lengths.findLast((each) => samples % each === 0) ?? 120
  const frames = samples / length
  const isStereo = (packet[0] ?? 0) & 4
  const head = ((fullband + lengths.indexOf(length)) << 3) | isStereo
  const silence = Array.from({ length: frames }, () => silentFrame).flat()
  return Buffer.from(frames === 1 ? [head, ...silence] : [head | 3, frames, ...silence])
}

/** Puts a packet whole where it ended. */
function replace(part: OggPage['parts'][number], packet: Buffer, before: OggPage[], page: OggPage): void {
  part.bytes = packet
  for (const { parts } of before) parts.pop()
  if (before.length === 0) return
  for (const { header } of [...before.slice(1), page]) header[5] = (header[5] ?? 0) & ~isContinuedFlag
}

function isContinued({ header }: OggPage): boolean {
  return ((header[5] ?? 0) & isContinuedFlag) === 1
}

function bytesOfLast(parts: OggPage['parts']): Buffer {
  return parts.at(-1)?.bytes ?? Buffer.alloc(0)
}

function copyOf({ header, parts }: OggPage): OggPage {
  return {
    header: Buffer.from(header),
    parts: parts.map(({ bytes, isEnd }) => ({ bytes: Buffer.from(bytes), isEnd })),
  }
}

function toBytes({ header, parts }: OggPage): Buffer {
  const segments = parts.flatMap(({ bytes, isEnd }) => [
    ...Array.from({ length: Math.floor(bytes.byteLength / 255) }, () => 255),
    ...(isEnd ? [bytes.byteLength % 255] : []),
  ])
  const sizes = Buffer.from([segments.length, ...segments])
  const page = Buffer.concat([header, sizes, ...parts.map(({ bytes }) => bytes)])
  page.writeUInt32LE(0, 22)
  page.writeUInt32LE(checksumOf(page), 22)
  return page
}

/** CRC-32 without reflection: RFC 3533 §6. */
function checksumOf(page: Buffer): number {
  let sum = 0
  for (const byte of page) sum = (sum << 8) ^ (checksums[(sum >>> 24) ^ byte] ?? 0)
  return sum >>> 0
}

const checksums = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24
  for (let bit = 0; bit < 8; bit++) sum = sum < 0 ? (sum << 1) ^ 0x04c11db7 : sum << 1
  return sum
})
