import type { CallChange } from '../../src/calls/schemas.ts'
import { createRandom } from '../random.ts'

const rate = 8_000
const headerBytes = 44
const secondsPerCharacter = 0.065
const seed = 11

/** A WAV file in which caller and agent are heard, each in a lane of its own, when the timeline says so. */
export function soundOf({ duration = 0, transcript = [], details }: CallChange): Buffer<ArrayBuffer> {
  const random = createRandom(seed)
  const samples = new Int16Array(Math.ceil(duration * rate) * 2)
  for (const { atSeconds, kind, turn } of details?.timeline ?? []) {
    const said = transcript[turn ?? -1]
    if (kind !== 'turn' || !said) continue
    const lane = said.role === 'user' ? 0 : 1
    const end = Math.min(duration, atSeconds + said.content.length * secondsPerCharacter)
    for (let at = Math.floor(atSeconds * rate); at < end * rate; at++) {
      const loudness = 5_000 + 9_000 * Math.abs(Math.sin(at / 1_700) * Math.sin(at / 5_300))
      samples[at * 2 + lane] = (random() * 2 - 1) * loudness
    }
  }
  const header = Buffer.alloc(headerBytes)
  header.write('RIFF', 0)
  header.writeUInt32LE(headerBytes - 8 + samples.byteLength, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(2, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 4, 28)
  header.writeUInt16LE(4, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples.byteLength, 40)
  return Buffer.concat([header, new Uint8Array(samples.buffer)])
}
