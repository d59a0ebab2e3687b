import { OpusDecoder } from 'opus-decoder'
import { release } from '../release.ts'
import { DecodedSound } from './decoded-sound.ts'
import type { AudioReader } from './encrypted-audio.ts'
import { pagesOf, serialOf } from './ogg.ts'

// Ogg: RFC 3533. Opus in Ogg: RFC 7845.

/** The lowest that Opus decodes to, and as much as a telephone has. */
const rate = 8_000
/** What the decoder has room for. */
export const packetBytesMax = 3_840
/** The least length of the first packet. */
const idHeaderBytes = 19

/** Null if the file has no Opus of one or two channels. */
export async function opusSound(reader: AudioReader): Promise<DecodedSound | null> {
  let decoder: OpusDecoder<typeof rate> | null = null
  let sound: DecodedSound | null = null
  for await (const packets of packetsOf(reader)) {
    if (decoder === null || sound === null) {
      const channels = channelsOf(packets[0])
      if (channels === null) return null
      sound = new DecodedSound(channels, rate)
      decoder = new OpusDecoder({ channels, sampleRate: rate })
      await decoder.ready
      continue
    }
    const audio = packets.filter((packet) => packet.byteLength <= packetBytesMax && !isTags(packet))
    if (audio.length === 0) continue
    const { channelData } = decoder.decodeFrames(audio)
    sound.add(channelData)
    channelData.forEach(release)
  }
  decoder?.free()
  return sound
}

function channelsOf(head: Buffer | undefined): 1 | 2 | null {
  if (!head || head.byteLength < idHeaderBytes || head.toString('latin1', 0, 8) !== 'OpusHead') return null
  const channels = head[9]
  // Another mapping has several streams.
  return head[18] === 0 && (channels === 1 || channels === 2) ? channels : null
}

/** Whether it is a packet of tags, which has no sound. */
export function isTags(packet: Buffer): boolean {
  return packet.toString('latin1', 0, 8) === 'OpusTags'
}

/** The packets that end in each page of the first stream of an Ogg file, up to where it ends or is no Ogg. */
async function* packetsOf(reader: AudioReader): AsyncGenerator<Buffer[]> {
  let serial: number | null = null
  /** The beginning of a packet that goes on, or as much of it as shows that it is too long. */
  let head = Buffer.alloc(0)
  for await (const page of pagesOf(reader)) {
    serial ??= serialOf(page)
    if (serialOf(page) !== serial) continue
    const packets: Buffer[] = []
    for (const { bytes, isEnd } of page.parts) {
      const packet = head.byteLength > 0 ? Buffer.concat([head, bytes]) : bytes
      head = isEnd ? Buffer.alloc(0) : Buffer.from(packet.subarray(0, packetBytesMax + 1))
      if (isEnd) packets.push(packet)
    }
    if (packets.length > 0) yield packets
  }
}
