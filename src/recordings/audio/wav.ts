import { DecodedSound } from './decoded-sound.ts'
import type { AudioLength, AudioReader } from './encrypted-audio.ts'

// RIFF: https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html; A-law and µ-law: ITU-T G.711.

const slicesBytes = 131_072
const chunksMax = 1_000
const channelsMax = 64
/** A format whose tag is in the extension. */
const extensible = 0xfffe

/** Reads the sample at an offset, from -1 to 1. */
type SampleReader = (view: DataView, at: number) => number

/** By the format's tag and the bits of a sample: 1 is PCM, 3 floating point, 6 A-law, 7 µ-law. */
const sampleReaders: Record<string, SampleReader> = {
  '1/8': (view, at) => (view.getUint8(at) - 128) / 128,
  '1/16': (view, at) => view.getInt16(at, true) / 32_768,
  '1/24': (view, at) => ((view.getInt8(at + 2) << 16) | view.getUint16(at, true)) / 8_388_608,
  '1/32': (view, at) => view.getInt32(at, true) / 2_147_483_648,
  '3/32': (view, at) => view.getFloat32(at, true),
  '3/64': (view, at) => view.getFloat64(at, true),
  '6/8': (view, at) => aLawLevel(view.getUint8(at)),
  '7/8': (view, at) => muLawLevel(view.getUint8(at)),
}

/** By the format's tag and the bits of a sample, where it is not 0. */
const silences: Record<string, number> = { '1/8': 0x80, '6/8': 0xd5, '7/8': 0xff }

interface SampleFormat {
  channels: number
  rate: number
  bytesPerSample: number
  /** Each byte of a silent sample. */
  silence: number
  readSample: SampleReader
}

interface WavChunks {
  format: Buffer
  /** Where the samples are. */
  start: number
  end: number
}

/** Whatever the samples are. @throws Error without them */
export async function wavLength(reader: AudioReader): Promise<AudioLength> {
  const { format, start, end } = await findChunks(reader)
  const bytesPerSecond = format.readUInt32LE(8) || format.readUInt32LE(4) * format.readUInt16LE(12)
  return { durationSeconds: (end - start) / bytesPerSecond, channels: format.readUInt16LE(2) }
}

/** Where the samples are, and how; null in a format that is not read. @throws Error without them */
export async function wavLayout(reader: AudioReader) {
  const { format, start, end } = await findChunks(reader)
  const sampleFormat = formatOf(format)
  if (!sampleFormat) return null
  return { ...sampleFormat, start, end, frameBytes: sampleFormat.channels * sampleFormat.bytesPerSample }
}

/** Null if the samples are in a format that is not read. @throws Error without them */
export async function wavSound(reader: AudioReader): Promise<DecodedSound | null> {
  const layout = await wavLayout(reader)
  if (!layout) return null
  const { start, end, channels, rate, bytesPerSample, frameBytes: frame, readSample } = layout
  const sound = new DecodedSound(channels, rate)
  const sliceBytes = slicesBytes - (slicesBytes % frame)
  for (let at = start; at < end; at += sliceBytes) {
    const bytes = await reader.read(at, Math.min(end, at + sliceBytes))
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const length = Math.floor(bytes.byteLength / frame)
    // More channels than two are neither shown nor measured.
    const read = Array.from({ length: Math.min(2, channels) }, (_, channel) => {
      const samples = new Float32Array(length)
      for (let index = 0; index < length; index++)
        samples[index] = readSample(view, index * frame + channel * bytesPerSample)
      return samples
    })
    sound.add(read)
  }
  return sound
}

async function findChunks(reader: AudioReader): Promise<WavChunks> {
  let format: Buffer | null = null
  let at = 12
  for (let count = 0; count < chunksMax; count++) {
    const header = await reader.read(at, at + 8)
    if (header.byteLength < 8) break
    const name = header.toString('latin1', 0, 4)
    const bytes = header.readUInt32LE(4)
    const start = at + 8
    if (name === 'fmt ') format = Buffer.from(await reader.read(start, start + Math.min(bytes, 40)))
    // A length that was not known when the file was begun, or does not fit, reaches beyond its end.
    if (name === 'data') {
      const end = bytes === 0 ? reader.bytes : Math.min(reader.bytes, start + bytes)
      if (format) return { format, start, end }
      break
    }
    at = start + bytes + (bytes % 2)
  }
  throw new Error('There is no sound')
}

function formatOf(chunk: Buffer): SampleFormat | null {
  if (chunk.byteLength < 16) return null
  const channels = chunk.readUInt16LE(2)
  const rate = chunk.readUInt32LE(4)
  const bits = chunk.readUInt16LE(14)
  const tag = chunk.readUInt16LE(0)
  const kind = tag === extensible && chunk.byteLength >= 26 ? chunk.readUInt16LE(24) : tag
  const readSample = sampleReaders[`${kind}/${bits}`]
  if (!readSample || channels === 0 || channels > channelsMax || rate === 0) return null
  const silence = silences[`${kind}/${bits}`] ?? 0
  return { channels, rate, bytesPerSample: bits / 8, silence, readSample }
}

function muLawLevel(byte: number): number {
  const code = ~byte
  return ((((code & 0x0f) << 3) + 0x84) * 2 ** ((code >> 4) & 7) - 0x84) / 32_768
}

function aLawLevel(byte: number): number {
  const code = byte ^ 0x55
  const exponent = (code >> 4) & 7
  const mantissa = (code & 0x0f) << 4
  return (exponent === 0 ? mantissa + 8 : (mantissa + 0x108) * 2 ** (exponent - 1)) / 32_768
}
