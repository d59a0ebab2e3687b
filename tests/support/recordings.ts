import { randomBytes } from 'node:crypto'

const headerBytes = 44
const bytesPerSecond = 32_000

/** A WAV file of noise: 16 bits, two lanes at 8 kHz. */
export function madeWav(bytes = 64_044): Buffer<ArrayBuffer> {
  const file = Buffer.concat([Buffer.alloc(headerBytes), randomBytes(bytes - headerBytes)])
  file.write('RIFF', 0)
  file.writeUInt32LE(bytes - 8, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(2, 22)
  file.writeUInt32LE(8_000, 24)
  file.writeUInt32LE(bytesPerSecond, 28)
  file.writeUInt16LE(4, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(bytes - headerBytes, 40)
  return file
}

/** The seconds that such a file plays. */
export function secondsOf(wav: Buffer): number {
  return (wav.length - headerBytes) / bytesPerSecond
}
