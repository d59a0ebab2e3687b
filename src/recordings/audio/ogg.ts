import type { AudioLength, AudioReader } from './encrypted-audio.ts'

// Ogg: RFC 3533.

const pageHeaderBytes = 27
/** The longest page is a little shorter. */
const tailBytes = 65_536

/** What the first stream begins with, and the position at which its last page ends. */
export async function oggLength(reader: AudioReader): Promise<AudioLength> {
  const first = await reader.read(0, 2 * tailBytes)
  const { channels, rate, skipped } = streamOf(first.subarray(pageHeaderBytes + first.readUInt8(26)))
  const serial = first.readUInt32LE(14)
  const tail = await reader.read(Math.max(0, reader.bytes - tailBytes), reader.bytes)
  for (let at = tail.length - pageHeaderBytes; at >= 0; at--) {
    at = tail.lastIndexOf('OggS', at)
    if (at < 0 || tail.readUInt32LE(at + 14) !== serial) continue
    const position = tail.readBigInt64LE(at + 6)
    // A page in which no packet ends has none.
    if (position >= 0n) return { durationSeconds: (Number(position) - skipped) / rate, channels }
  }
  return { durationSeconds: null, channels }
}

/** The samples are skipped at the start. @throws Error for other codecs */
function streamOf(head: Buffer): { channels: number; rate: number; skipped: number } {
  const begins = (text: string) => head.toString('latin1', 0, text.length) === text
  // RFC 7845 §5.1, Vorbis I §4.2.2, the manual of Speex, and RFC 9639 §10.1.
  if (begins('OpusHead')) return { channels: head.readUInt8(9), rate: 48_000, skipped: head.readUInt16LE(10) }
  if (begins('\x01vorbis')) return { channels: head.readUInt8(11), rate: head.readUInt32LE(12), skipped: 0 }
  if (begins('Speex   ')) return { channels: head.readUInt32LE(48), rate: head.readUInt32LE(36), skipped: 0 }
  throw new Error('The codec is not known')
}
