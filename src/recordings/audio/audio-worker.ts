import { lowerPriority } from '../../threads/priority.ts'
import { serve } from '../../threads/serve.ts'
import { AudioReader, type EncryptedAudio } from './encrypted-audio.ts'
import { type AudioLength, lengthOf } from './length.ts'
import { mp3Peaks } from './mp3.ts'
import { opusPeaks } from './opus.ts'
import type { Peaks } from './peaks.ts'
import { wavPeaks } from './wav.ts'

const decodingErrorsMax = 1_000

const peaksOf: Record<string, (reader: AudioReader) => Promise<Peaks | null>> = {
  'audio/wav': wavPeaks,
  'audio/mpeg': mp3Peaks,
  'audio/ogg': opusPeaks,
}

/** Both are null for a file that is not what it seems. */
async function probe(audio: EncryptedAudio): Promise<AudioLength> {
  const length = await readingAudio(audio, (reader) => lengthOf(reader, audio.contentType))
  return length ?? { durationSeconds: null, channels: null }
}

/** As `Peaks.toBytes`; empty if the file cannot be decoded. */
async function peaks(audio: EncryptedAudio): Promise<Uint8Array> {
  lowerPriority(10)
  countDecodingErrors()
  const found = await readingAudio(audio, async (reader) => peaksOf[audio.contentType]?.(reader))
  return found?.toBytes() ?? new Uint8Array()
}

/** Null if what the file contains cannot be understood. @throws Error if the file cannot be read */
async function readingAudio<Value>(
  audio: EncryptedAudio,
  read: (reader: AudioReader) => Promise<Value>,
): Promise<Value | null> {
  const reader = new AudioReader(audio)
  try {
    return await read(reader)
  } catch (error) {
    if (reader.failure !== null) throw error
    // The parsers and decoders throw for files that are damaged, on purpose or not.
    return null
  } finally {
    reader.close()
  }
}

/** The decoders write each error to the console, of this thread alone, and may go on for ever. */
function countDecodingErrors(): void {
  let errors = 0
  console.error = () => {
    if (++errors > decodingErrorsMax) throw new Error('The recording is damaged')
  }
}

const api = { probe, peaks }

export type AudioApi = typeof api

serve(api)
