import type { CallChange } from '../calls/schemas.ts'

const rate = 8_000
const headerBytes = 44
const secondsPerCharacter = 0.065
const syllablesPerSecond = 4.3
/** The pitch of the caller and of the agent, in Hz, and how loud the tones above it are. */
const pitches = [128, 196] as const
const overtones = [1, 0.55, 0.35, 0.2]
const loudness = 6_500

/** A WAV file in which caller and agent are heard to hum, each in a channel of its own, when the timeline says so. */
export function soundOf({ duration = 0, transcript = [], details }: CallChange): Buffer<ArrayBuffer> {
  const samples = new Int16Array(Math.ceil(duration * rate) * 2)
  for (const { atSeconds, kind, turn } of details?.timeline ?? []) {
    const said = transcript[turn ?? -1]
    if (kind !== 'turn' || !said) continue
    const lane = said.role === 'user' ? 0 : 1
    const end = Math.min(duration, atSeconds + said.content.length * secondsPerCharacter)
    for (let at = Math.floor(atSeconds * rate); at < end * rate; at++)
      samples[at * 2 + lane] = hum(at / rate, pitches[lane])
  }
  return Buffer.concat([headerOf(samples.byteLength), new Uint8Array(samples.buffer)])
}

/** One sample of a voice without words. */
function hum(seconds: number, pitch: number): number {
  const syllable = Math.abs(Math.sin(Math.PI * syllablesPerSecond * seconds))
  const glide = seconds * pitch + Math.sin(seconds * 2.1)
  const tones = overtones.reduce(
    (sum, volume, at) => sum + volume * Math.sin(2 * Math.PI * glide * (at + 1)),
    0,
  )
  return loudness * syllable * tones
}

function headerOf(bytes: number): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.write('RIFF', 0)
  header.writeUInt32LE(headerBytes - 8 + bytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(2, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 4, 28)
  header.writeUInt16LE(4, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(bytes, 40)
  return header
}
