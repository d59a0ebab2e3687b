import type { AudioLength, AudioReader } from './encrypted-audio.ts'

// Ogg: RFC 3533.

const pageHeaderBytes = 27
const segmentBytesMax = 255
const pageBytesMax = pageHeaderBytes + segmentBytesMax * (1 + segmentBytesMax)
/** The longest page is a little shorter. */
const tailBytes = 65_536

/** A page of an Ogg file, valid until the next is asked for. */
export interface OggPage {
  /** Up to where the number of segments stands. */
  header: Buffer
  /** The parts of packets in it. The last one may go on in the next page of the stream. */
  parts: { bytes: Buffer; isEnd: boolean }[]
}

/** The stream that a page belongs to. */
export function serialOf({ header }: OggPage): number {
  return header.readUInt32LE(14)
}

/** The pages from the start of a file up to where it ends, is cut, or is no Ogg. */
export async function* pagesOf(reader: AudioReader): AsyncGenerator<OggPage> {
  for (let at = 0; at < reader.bytes; ) {
    const page = await reader.read(at, at + pageBytesMax)
    if (page.byteLength < pageHeaderBytes || page.toString('latin1', 0, 4) !== 'OggS') return
    const segments = page.subarray(pageHeaderBytes, pageHeaderBytes + page.readUInt8(26))
    const parts: OggPage['parts'] = []
    let from = pageHeaderBytes + segments.byteLength
    let to = from
    for (const bytes of segments) {
      to += bytes
      if (bytes === segmentBytesMax) continue
      parts.push({ bytes: page.subarray(from, to), isEnd: true })
      from = to
    }
    if (to > page.byteLength) return
    if (from < to) parts.push({ bytes: page.subarray(from, to), isEnd: false })
    yield { header: page.subarray(0, pageHeaderBytes - 1), parts }
    at += to
  }
}

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
