import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Speech } from '../../src/calls/sound/figures.ts'
import { toSpeechBytes } from '../../src/calls/sound/speech-bytes.ts'
import type { TestService } from './service.ts'

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

/** Lets a call have been heard, without a recording. */
export async function hear(
  { services }: Pick<TestService, 'services'>,
  projectId: number,
  id: string,
  speech: Speech,
): Promise<void> {
  const own = { speech: { bytes: toSpeechBytes(speech), callerChannel: null } }
  await services.ingest.setRecording(projectId, id, own, { beside: { statements: () => [sql`select 1`] } })
}

/** The seconds that such a file plays. */
export function secondsOf(wav: Buffer): number {
  return (wav.length - headerBytes) / bytesPerSecond
}
